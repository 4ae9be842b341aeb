using System.Threading.Channels;
using Tour.Data;

namespace Tour.Engines;

/// <summary>
/// The group commit that a careful program builds for SQLite: callers queue their entries, and one of its tasks commits all that wait in one
/// transaction.
/// </summary>
internal sealed class SqliteQueue : IAsyncDisposable
{
    private const int MaxEntriesPerCommit = 1000;

    private readonly SqliteStore _store;
    private readonly string _table;
    private readonly Channel<(Member Member, TaskCompletionSource Done)> _queue =
        Channel.CreateUnbounded<(Member Member, TaskCompletionSource Done)>(new() { SingleReader = true });

    private readonly Task _writing;

    public SqliteQueue(SqliteStore store, string table)
    {
        _store = store;
        _table = table;
        _writing = Task.Run(WriteAllAsync);
    }

    /// <summary>Puts an entry. The task completes when it is on disk.</summary>
    public async ValueTask PutAsync(Member member)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await _queue.Writer.WriteAsync((member, done));
        await done.Task;
    }

    public async ValueTask DisposeAsync()
    {
        _queue.Writer.Complete();
        await _writing;
    }

    private async Task WriteAllAsync()
    {
        var waiting = new List<(Member Member, TaskCompletionSource Done)>();
        while (await _queue.Reader.WaitToReadAsync())
        {
            while (waiting.Count < MaxEntriesPerCommit && _queue.Reader.TryRead(out var put))
                waiting.Add(put);
            try
            {
                _store.PutMany(_table, waiting.Select(static put => put.Member));
                foreach (var (_, done) in waiting)
                    done.SetResult();
            }
            catch (Exception e)
            {
                foreach (var (_, done) in waiting)
                    done.SetException(e);
            }

            waiting.Clear();
        }
    }
}
