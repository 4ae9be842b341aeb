using System.Diagnostics;

namespace Voron.Documents.Tool;

/// <summary>Brings documents into a collection, many in each durable transaction.</summary>
/// <param name="collection">The collection.</param>
/// <param name="source">The source.</param>
/// <param name="skipsBad">True to leave out what is no document, and count it.</param>
/// <param name="documentsPerCommit">The number of documents in each transaction.</param>
internal sealed class Importer(Collection collection, ImportSource source, bool skipsBad, int documentsPerCommit = 1000)
{
    private const long MaxBytesPerCommit = 16 << 20;

    private readonly long _began = Stopwatch.GetTimestamp();
    private DocumentBatch _batch = collection.CreateBatch();
    private DocumentBatch _spare = collection.CreateBatch();
    private long _bytes;
    private Task _commit = Task.CompletedTask;

    public long Imported { get; private set; }

    public long Refused { get; private set; }

    /// <summary>The reason for which the first document was refused.</summary>
    public string? FirstRefusal { get; private set; }

    public double PerSecond => Imported / Math.Max(1e-9, Stopwatch.GetElapsedTime(_began).TotalSeconds);

    /// <exception cref="ImportException">Something is no document. What came before it is stored, in part.</exception>
    public void Run(Action<long> progress, CancellationToken stop)
    {
        try
        {
            foreach (var document in source.Read(progress))
            {
                stop.ThrowIfCancellationRequested();
                Add(document);
                if (_batch.Count == documentsPerCommit || _bytes > MaxBytesPerCommit)
                    Commit();
            }

            Commit();
        }
        finally
        {
            Await();
        }
    }

    private void Add(in ImportedDocument document)
    {
        try
        {
            _batch.Add(document.Json, document.Id);
            _bytes += document.Json.Length;
        }
        catch (DocumentFormatException e)
        {
            var reason = $"{Capital(document.Place)} of {source.Name} is no document. {e.Message}";
            if (!skipsBad)
            {
                Commit();
                Await();
                throw new ImportException($"{reason} {Imported:N0} documents before it are stored. --skip-bad leaves such ones out, and counts them.", e);
            }

            FirstRefusal ??= reason;
            Refused++;
        }
    }

    private static string Capital(string text) => char.ToUpperInvariant(text[0]) + text[1..];

    // One batch is filled while the one before is written.
    private void Commit()
    {
        Await();
        var batch = _batch;
        (_batch, _spare) = (_spare, batch);
        _bytes = 0;
        _commit = Task.Run(() => collection.PutMany(batch));
    }

    private void Await()
    {
        var commit = _commit;
        _commit = Task.CompletedTask;
        commit.GetAwaiter().GetResult();
        Imported += _spare.Count;
        _spare.Clear();
    }
}
