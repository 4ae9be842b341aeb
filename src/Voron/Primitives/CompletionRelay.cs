namespace Voron.Primitives;

/// <summary>Completes tasks on behalf of the threads that commit.</summary>
/// <remarks>
/// A thread of its own and a work item of the pool do the same work side by side. The thread needs no free thread of the pool, so a
/// task comes through to a caller that blocks on it while all of the pool is blocked. The work item keeps the others from waiting when
/// a user's continuation, one that insists on running synchronously, blocks the thread. The thread ends when it is idle for a while.
/// </remarks>
internal sealed class CompletionRelay : IThreadPoolWorkItem
{
    private static readonly TimeSpan IdleTime = TimeSpan.FromSeconds(10);

    private readonly object _gate = new();
    private PooledCompletion? _first;
    private PooledCompletion? _last;
    private bool _hasThread;
    private bool _isInPool;

    public static CompletionRelay Shared { get; } = new();

    /// <summary>Has a completion run; it is nobody else's until then.</summary>
    public void Add(PooledCompletion completion)
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
        var before = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(NotForContinuations.Instance);
        while (TryTake(out var completion))
            Run(completion);
        SynchronizationContext.SetSynchronizationContext(before);
    }

    // Either of the two may find no memory: the other one does the work.
    private void StartThread()
    {
        try
        {
            new Thread(RunThread) { IsBackground = true, Name = "Voron completions" }.UnsafeStart();
        }
        catch (OutOfMemoryException)
        {
            using (Uninterrupted.Hold(_gate))
                _hasThread = false;
        }
    }

    private void QueueToPool()
    {
        try
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
        catch (OutOfMemoryException)
        {
            using (Uninterrupted.Hold(_gate))
                _isInPool = false;
        }
    }

    private void RunThread()
    {
        SynchronizationContext.SetSynchronizationContext(NotForContinuations.Instance);
        while (true)
        {
            PooledCompletion? completion;
            using (Uninterrupted.Hold(_gate))
            {
                while (!TryTake(out completion))
                {
                    // A continuation of the user's may have handed its thread to another one, whose interruption means nothing here.
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

    private bool TryTake([System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out PooledCompletion? completion)
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

    private static void Run(PooledCompletion completion)
    {
        try
        {
            completion.RunRelayed();
        }
        catch (Exception)
        {
            // Thrown by a continuation that a user runs synchronously: there is nobody to tell, and the thread has others to serve.
        }
    }

    /// <summary>Keeps an <c>await</c> from going on inside the call that completes its task: it goes to the pool.</summary>
    private sealed class NotForContinuations : SynchronizationContext
    {
        public static NotForContinuations Instance { get; } = new();
    }
}
