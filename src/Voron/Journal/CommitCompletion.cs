using System.Threading.Tasks.Sources;

namespace Voron.Journal;

/// <summary>What an awaited commit waits for. Pooled: a completion goes back when its result has been taken.</summary>
/// <remarks>Continuations never run on the thread that completes it, which is writing the journal.</remarks>
internal sealed class CommitCompletion : IValueTaskSource
{
    private const int PoolSize = 64;

    private static readonly CommitCompletion?[] Pool = new CommitCompletion?[PoolSize];

    private ManualResetValueTaskSourceCore<bool> _core = new() { RunContinuationsAsynchronously = true };

    public ValueTask Task => new(this, _core.Version);

    public static CommitCompletion Rent()
    {
        for (var i = 0; i < PoolSize; i++)
        {
            var pooled = Interlocked.Exchange(ref Pool[i], null);
            if (pooled != null)
                return pooled;
        }

        return new CommitCompletion();
    }

    public void SetResult() => _core.SetResult(true);

    public void SetException(Exception exception) => _core.SetException(exception);

    void IValueTaskSource.GetResult(short token)
    {
        // Asked too early, or once too often, it throws and stays where it is: in the journal's hands, or in the pool.
        if (_core.GetStatus(token) == ValueTaskSourceStatus.Pending)
            throw new InvalidOperationException("The commit has not completed. Await the task, or turn it into a Task before blocking on it.");
        try
        {
            _core.GetResult(token);
        }
        finally
        {
            _core.Reset();
            for (var i = 0; i < PoolSize; i++)
            {
                if (Interlocked.CompareExchange(ref Pool[i], this, null) == null)
                    break;
            }
        }
    }

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);
}
