using Voron.Primitives;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Staging;

/// <summary>Makes finished uploads durable: uploads that end during a sync share the next one, and no thread waits for it.</summary>
/// <remarks>
/// A caller joins the round that has not begun yet, so the sync of its round begins after all of its writes have returned. A caller that finds no
/// active round runs its round on its own thread; a thread of the pool runs the following rounds.
/// </remarks>
internal sealed class SharedSync(ReadingEngine engine) : IThreadPoolWorkItem
{
    private readonly Lock _gate = new();
    private TaskCompletionSource? _next;
    private int _waiting;
    private bool _isRunning;

    /// <summary>The number of callers that wait for the next round.</summary>
    public int Waiting
    {
        get
        {
            using (Uninterrupted.Hold(_gate))
                return _waiting;
        }
    }

    /// <summary>Returns a task that completes when everything that the caller has written is durable.</summary>
    /// <exception cref="EnvironmentPoisonedException">The sync failed, or an earlier write did.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public Task RunAsync()
    {
        TaskCompletionSource round;
        using (Uninterrupted.Hold(_gate))
        {
            round = _next ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _waiting++;
            if (_isRunning)
                return round.Task;
            _isRunning = true;
        }

        RunRounds();
        return round.Task;
    }

    void IThreadPoolWorkItem.Execute() => RunRounds();

    private void RunRounds()
    {
        while (RunRound() && !PoolWork.TryQueue(this))
        {
            // The pool has no memory for the next round.
        }
    }

    // Returns whether there is another round.
    private bool RunRound()
    {
        TaskCompletionSource round;
        using (Uninterrupted.Hold(_gate))
        {
            if (_next == null)
                return false;
            round = _next;
            _next = null;
            _waiting = 0;
        }

        var failure = TrySync();
        if (failure == null)
            round.SetResult();
        else
            round.SetException(failure);
        using (Uninterrupted.Hold(_gate))
            return _isRunning = _next != null;
    }

    private Exception? TrySync()
    {
        try
        {
            engine.Users.AddCall();
            try
            {
                engine.Poison.ThrowIfPoisoned();
                if (!PlantedFault.TakeUnsynced)
                    engine.DataFile.Sync();
                return null;
            }
            finally
            {
                engine.Users.RemoveCall();
            }
        }
        catch (Exception e)
        {
            return e;
        }
    }
}
