using Voron.Testing;

namespace Voron.Primitives;

/// <summary>Completes tasks on behalf of the threads that commit.</summary>
/// <remarks>
/// A dedicated thread and a pool work item do the same work side by side. The dedicated thread needs no free pool thread, so a task completes for a
/// caller that blocks on it even while the whole pool is blocked. The work item keeps the other tasks from waiting when the thread is blocked by a
/// user's continuation that insists on running synchronously. The thread ends when it has been idle for a while.
/// </remarks>
internal sealed class CompletionRelay : IThreadPoolWorkItem
{
    private static readonly TimeSpan IdleTime = TimeSpan.FromSeconds(10);

    // Protects the queue, and whether the thread and the work item run. No other lock is taken while it is held.
    private readonly object _gate = new();

    private RelayedCompletion? _first;
    private RelayedCompletion? _last;
    private bool _hasThread;
    private bool _isInPool;

    public static CompletionRelay Shared { get; } = new();

    /// <summary>Queues a completion. The relay owns the completion until it runs it.</summary>
    public void Add(RelayedCompletion completion)
    {
        bool starts, queues;
        completion.Next = null;
        using (Uninterrupted.Hold(_gate))
        {
            if (_last == null)
                _first = completion;
            else
                _last.Next = completion;
            _last = completion;
            starts = !_hasThread;
            queues = !_isInPool;
            _hasThread = _isInPool = true;
            Monitor.Pulse(_gate);
        }

        if (starts && !PlantedFault.CompleteOnPool)
            StartThread();
        if (queues)
            QueueToPool();
    }

    void IThreadPoolWorkItem.Execute()
    {
        using (Uninterrupted.Hold(_gate))
            _isInPool = false;
        NoContinuations.Run(
            static relay =>
            {
                while (relay.TryTake(out var completion))
                    Run(completion);
            },
            this);
    }

    // The thread or the work item may fail to start for lack of memory. The other one then does the work.
    private void StartThread()
    {
        try
        {
            new Thread(RunThread) { IsBackground = true, Name = "Voron completions" }.UnsafeStart();
        }
        catch (Exception e) when (e is OutOfMemoryException or ThreadStartException)
        {
            using (Uninterrupted.Hold(_gate))
                _hasThread = false;
        }
    }

    private void QueueToPool()
    {
        if (PoolWork.TryQueue(this))
            return;
        using (Uninterrupted.Hold(_gate))
            _isInPool = false;
    }

    private void RunThread()
    {
        SynchronizationContext.SetSynchronizationContext(NoContinuations.Context);
        while (true)
        {
            RelayedCompletion? completion;
            using (Uninterrupted.Hold(_gate))
            {
                while (!TryTake(out completion))
                {
                    // A user's continuation may have caused another thread to interrupt this one. Here, an interruption has no meaning.
                    var isInterrupted = false;
                    if (!Uninterrupted.Wait(_gate, (int)IdleTime.TotalMilliseconds, ref isInterrupted) && _first == null)
                    {
                        _hasThread = false;
                        return;
                    }
                }
            }

            Run(completion!);
        }
    }

    private bool TryTake([System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out RelayedCompletion? completion)
    {
        using (Uninterrupted.Hold(_gate))
        {
            completion = _first;
            if (completion == null)
                return false;
            _first = completion.Next;
            if (_first == null)
                _last = null;
            completion.Next = null;
            return true;
        }
    }

    private static void Run(RelayedCompletion completion)
    {
        try
        {
            completion.RunRelayed();
        }
        catch (Exception)
        {
            // Thrown by a continuation that a user runs synchronously. There is nowhere to report it, and the thread has other tasks to serve.
        }
    }
}

/// <summary>A completion that the <see cref="CompletionRelay"/> can run.</summary>
internal abstract class RelayedCompletion
{
    /// <summary>The next completion in the same list, which belongs to the journal or to the relay.</summary>
    public RelayedCompletion? Next { get; set; }

    /// <summary>Performs the work of the relay, on a thread that nothing depends on.</summary>
    public abstract void RunRelayed();
}
