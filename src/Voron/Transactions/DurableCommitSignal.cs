namespace Voron.Transactions;

/// <summary>Wakes the callers that wait for the next durable transaction. Costs a commit one fence while nothing waits.</summary>
/// <remarks>
/// A caller arms the signal before it begins the snapshot that it searches for news. Transactions durable by then are in the snapshot; later ones
/// raise the signal.
/// </remarks>
internal sealed class DurableCommitSignal
{
    private TaskCompletionSource? _armed;

    /// <summary>Returns a task that completes with the next transaction that becomes durable after this call.</summary>
    public Task Arm()
    {
        while (true)
        {
            if (Volatile.Read(ref _armed) is { } armed)
                return armed.Task;
            var own = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            if (Interlocked.CompareExchange(ref _armed, own, null) == null)
                return own.Task;
        }
    }

    /// <summary>Completes the armed task. The transaction is durable and published.</summary>
    public void Raise()
    {
        // Orders the publication before the look at the task.
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref _armed) == null)
            return;
        try
        {
            Interlocked.Exchange(ref _armed, null)?.TrySetResult();
        }
        catch (OutOfMemoryException)
        {
            // The waiting caller times out, and looks again.
        }
    }
}
