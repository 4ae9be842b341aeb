using System.Diagnostics;

namespace Voron.Documents.Tool;

/// <summary>Brings documents into a collection, many in each durable transaction.</summary>
/// <param name="collection">The collection.</param>
/// <param name="source">The source.</param>
/// <param name="skipsBad">True to leave out what is no document, and count it.</param>
/// <param name="replaces">False to refuse a document whose id the collection has.</param>
/// <param name="documentsPerCommit">The number of documents in each transaction.</param>
internal sealed class Importer(Collection collection, ImportSource source, bool skipsBad, bool replaces = true, int documentsPerCommit = 1000)
{
    private const long MaxBytesPerCommit = 16 << 20;

    // One whose pages are changed, while the journal record of the one before is compressed and written. Compressed documents come one batch at a
    // time: with two, the first dictionary came when half of them were stored without it.
    private readonly int _mostCommits = collection.Settings.Compression == ValueCompression.None ? 2 : 1;

    private readonly long _began = Stopwatch.GetTimestamp();
    private readonly Queue<(DocumentBatch Batch, HashSet<string> Ids, Task<Task<int>> Commit)> _commits = new();
    private readonly Stack<DocumentBatch> _spare = new();
    private Task _newest = Task.CompletedTask;

    // Of the batch, to find those that are not stored yet; none if documents are replaced.
    private HashSet<string> _ids = new(StringComparer.Ordinal);
    private DocumentBatch _batch = collection.CreateBatch();
    private long _bytes;

    public long Imported { get; private set; }

    public long Refused { get; private set; }

    /// <summary>The number of documents that have taken the place of another one.</summary>
    public long Replaced { get; private set; }

    /// <summary>The reason for which the first document was refused.</summary>
    public string? FirstRefusal { get; private set; }

    public double PerSecond => Imported / Math.Max(1e-9, Stopwatch.GetElapsedTime(_began).TotalSeconds);

    /// <summary>Imports all documents of the source.</summary>
    /// <param name="progress">Receives how much of the source has been read.</param>
    /// <param name="stop">Ends the import. The documents that were read before are stored.</param>
    /// <exception cref="ImportException">Something is no document, or cannot be read. The documents before it are stored.</exception>
    /// <exception cref="OperationCanceledException">The import was cancelled.</exception>
    public void Run(Action<long> progress, CancellationToken stop)
    {
        try
        {
            using var documents = source.Read(progress, stop).GetEnumerator();
            while (MoveNext(documents))
            {
                Add(documents.Current);
                if (_batch.Count == documentsPerCommit || _bytes > MaxBytesPerCommit)
                    Commit();
                stop.ThrowIfCancellationRequested();
            }

            Commit();
        }
        catch (OperationCanceledException)
        {
            Commit();
            throw;
        }
        finally
        {
            Await();
        }
    }

    private bool MoveNext(IEnumerator<ImportedDocument> documents)
    {
        try
        {
            return documents.MoveNext();
        }
        catch (Exception e) when (e is ImportException or IOException)
        {
            throw Ended(e.Message, e);
        }
    }

    private void Add(in ImportedDocument document)
    {
        if (document.Fault != null)
        {
            Refuse(document, document.Fault, null);
            return;
        }

        try
        {
            if (!replaces && DocumentBatch.IdOf(document.Json, document.Id) is var id && IsTaken(id))
            {
                Refuse($"{Capital(document.Place)} of {source.Name} would replace the document '{id}', and --no-replace forbids it.", null);
                return;
            }

            _batch.Add(document.Json, document.Id);
            _bytes += document.Json.Length;
        }
        catch (DocumentFormatException e)
        {
            Refuse(document, e.Message, e);
        }
    }

    private void Refuse(in ImportedDocument document, string fault, Exception? cause) =>
        Refuse($"{Capital(document.Place)} of {source.Name} is no document. {fault}", cause);

    private void Refuse(string reason, Exception? cause)
    {
        if (!skipsBad)
            throw Ended(reason, cause, " --skip-bad leaves such ones out, and counts them.");
        FirstRefusal ??= reason;
        Refused++;
    }

    private bool IsTaken(string id) => !_ids.Add(id) || _commits.Any(commit => commit.Ids.Contains(id)) || collection.TryGet(id, out _);

    // The documents before the fault are stored, and the message says how many.
    private ImportException Ended(string reason, Exception? cause, string hint = "")
    {
        Commit();
        Await();
        var stored = Imported switch
        {
            0 => "",
            1 => " 1 document before it is stored.",
            _ => $" {Imported:N0} documents before it are stored.",
        };
        return new ImportException($"{reason}{stored}{hint}", cause);
    }

    private static string Capital(string text) => char.ToUpperInvariant(text[0]) + text[1..];

    // A batch is filled while those before are written. A batch begins when the call for the one before has returned, which is when its
    // transaction has its place: the order of the batches is that of their documents.
    private void Commit()
    {
        _batch.Prepare();
        while (_commits.Count >= _mostCommits)
            AwaitOldest();
        var batch = _batch;
        var commit = _newest.ContinueWith(_ => collection.PutManyAsync(batch).AsTask(), TaskScheduler.Default);
        _newest = commit;
        _commits.Enqueue((batch, _ids, commit));
        _ids = new HashSet<string>(StringComparer.Ordinal);
        _batch = _spare.TryPop(out var spare) ? spare : collection.CreateBatch();
        _bytes = 0;
    }

    private void Await()
    {
        if (_commits.Count == 0)
            return;
        try
        {
            AwaitOldest();
        }
        finally
        {
            // The others end before the store may be closed, even if this one has failed.
            Await();
        }
    }

    private void AwaitOldest()
    {
        var (batch, _, commit) = _commits.Dequeue();
        Replaced += commit.Unwrap().GetAwaiter().GetResult();
        Imported += batch.Count;
        batch.Clear();
        _spare.Push(batch);
    }
}
