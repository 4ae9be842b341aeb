using System.Collections.Concurrent;

namespace Voron.Documents.Tool.Compare;

/// <summary>SQLite behind a queue: a thread stores all documents that wait in one transaction, as a careful program does it.</summary>
internal sealed class QueuedSqliteStore : SqliteStore
{
    private const int MaxDocumentsPerCommit = 1000;

    private readonly BlockingCollection<(ImportedDocument Document, TaskCompletionSource Done)> _queue = [];
    private readonly Thread _writer;
    private bool _isDisposed;

    public QueuedSqliteStore(string directory)
        : base(directory)
    {
        _writer = new Thread(WriteAll) { IsBackground = true, Name = "SQLite writer" };
        _writer.Start();
    }

    public override bool NeedsThreads => false;

    public override async ValueTask PutAsync(ImportedDocument document)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _queue.Add((document, done));
        await done.Task;
    }

    protected override void Dispose(bool disposing)
    {
        if (!_isDisposed)
        {
            _isDisposed = true;
            _queue.CompleteAdding();
            _writer.Join();
            _queue.Dispose();
        }

        base.Dispose(disposing);
    }

    private void WriteAll()
    {
        var waiting = new List<(ImportedDocument Document, TaskCompletionSource Done)>();
        foreach (var first in _queue.GetConsumingEnumerable())
        {
            waiting.Add(first);
            while (waiting.Count < MaxDocumentsPerCommit && _queue.TryTake(out var next))
                waiting.Add(next);
            Write(waiting);
            waiting.Clear();
        }
    }

    private void Write(List<(ImportedDocument Document, TaskCompletionSource Done)> waiting)
    {
        try
        {
            PutMany(waiting.Select(static item => item.Document));
            waiting.ForEach(static item => item.Done.SetResult());
        }
        catch (Microsoft.Data.Sqlite.SqliteException e)
        {
            waiting.ForEach(item => item.Done.SetException(e));
        }
    }
}
