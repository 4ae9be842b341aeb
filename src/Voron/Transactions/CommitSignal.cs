namespace Voron.Transactions;

/// <summary>Wakes those who wait for the next durable transaction. Costs a commit one fence while nothing waits.</summary>
/// <remarks>
/// A waiting caller arms the signal before it begins the snapshot in which it looks for news. What is durable before that is in the snapshot; what
/// becomes durable later raises the signal.
/// </remarks>
internal sealed class CommitSignal
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
            // The waiting caller looks again of its own accord.
        }
    }
}
