using System.Diagnostics;

namespace Voron.Documents.Tool;

/// <summary>Brings documents into a collection, many in each durable transaction.</summary>
/// <param name="collection">The collection.</param>
/// <param name="source">The source.</param>
/// <param name="skipsBad">True to leave out what is no document, and count it.</param>
/// <param name="documentsPerCommit">The number of documents in each transaction.</param>
internal sealed class Importer(Collection collection, ImportSource source, bool skipsBad, int documentsPerCommit = 1000)
{
    private readonly long _began = Stopwatch.GetTimestamp();
    private DocumentBatch _batch = collection.CreateBatch();
    private DocumentBatch _spare = collection.CreateBatch();
    private Task _commit = Task.CompletedTask;

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
                _batch.Add(document.Json, document.Id);
            }
            catch (DocumentFormatException e)
            {
                var reason = $"{Capital(document.Place)} of {source.Name} is no document. {e.Message}";
                if (!skipsBad)
                {
                    End();
                    throw new ImportException($"{reason} {Imported:N0} documents before it are stored. --skip-bad leaves such ones out, and counts them.", e);
                }

                FirstRefusal ??= reason;
                Refused++;
            }

            if (_batch.Count == documentsPerCommit)
                Commit();
        }

        End();
    }

    private static string Capital(string text) => char.ToUpperInvariant(text[0]) + text[1..];

    private void End()
    {
        Commit();
        Await();
    }

    // One batch is filled while the one before is written.
    private void Commit()
    {
        Await();
        var batch = _batch;
        (_batch, _spare) = (_spare, batch);
        _commit = Task.Run(() => collection.PutMany(batch));
    }

    private void Await()
    {
        _commit.GetAwaiter().GetResult();
        Imported += _spare.Count;
        _spare.Clear();
    }
}
