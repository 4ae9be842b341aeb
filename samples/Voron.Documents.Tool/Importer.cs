using System.Diagnostics;

namespace Voron.Documents.Tool;

/// <summary>Brings documents into a collection, many in each durable transaction.</summary>
/// <param name="collection">The collection.</param>
/// <param name="source">The source.</param>
/// <param name="skipsBad">True to leave out what is no document, and count it.</param>
internal sealed class Importer(Collection collection, ImportSource source, bool skipsBad)
{
    private const int DocumentsPerCommit = 1000;

    private readonly long _began = Stopwatch.GetTimestamp();
    private readonly List<(string? Id, ReadOnlyMemory<byte> Json)> _batch = [];

    public long Imported { get; private set; }

    public long Refused { get; private set; }

    /// <summary>The reason for which the first document was refused.</summary>
    public string? FirstRefusal { get; private set; }

    public double PerSecond => Imported / Math.Max(1e-9, Stopwatch.GetElapsedTime(_began).TotalSeconds);

    /// <exception cref="ImportException">Something is no document. What came before it is stored, in part.</exception>
    public void Run(Action<long> progress, CancellationToken stop)
    {
        foreach (var document in source.Read(progress))
        {
            stop.ThrowIfCancellationRequested();
            try
            {
                _batch.Add((Collection.IdOf(document.Json.Span, document.Id), document.Json));
            }
            catch (DocumentFormatException e)
            {
                var reason = $"{Capital(document.Place)} of {source.Name} is no document. {e.Message}";
                if (!skipsBad)
                {
                    Commit();
                    throw new ImportException($"{reason} {Imported:N0} documents before it are stored. --skip-bad leaves such ones out, and counts them.", e);
                }

                FirstRefusal ??= reason;
                Refused++;
            }

            if (_batch.Count == DocumentsPerCommit)
                Commit();
        }

        Commit();
    }

    private static string Capital(string text) => char.ToUpperInvariant(text[0]) + text[1..];

    private void Commit()
    {
        collection.PutMany(_batch);
        Imported += _batch.Count;
        _batch.Clear();
    }
}
