using Voron.Testing;

namespace Voron.Primitives;

/// <summary>The only way in which the engine calls the user's observers, loggers and meter listeners.</summary>
/// <remarks>
/// <para>
/// The engine only queues a call (<see cref="Post"/>). The user's code is called later, by a thread that holds no engine lock, is not an
/// engine thread, and has no engine work left to finish: a caller at the end of its call, or a pool thread. The user's code may therefore
/// throw, block, call any member of the environment, and close it.
/// </para>
/// <para>Calls are made one at a time, in the order in which they were posted.</para>
/// </remarks>
internal abstract class UserCalls<T> : IThreadPoolWorkItem
{
    /// <summary>The number of calls that may wait behind one that does not return. Further calls are lost, and counted.</summary>
    private const int MaxWaiting = 1 << 16;

    // Protects the queue, and which thread makes its calls. No other lock is taken while it is held.
    private readonly object _lock = new();

    private readonly Queue<T> _waiting = new();
    private long _lost;
    private int _callingThread;
    private int _count;
    private bool _isQueued;

    /// <summary>True while a thread is in the user's code.</summary>
    public bool IsCalling => Volatile.Read(ref _callingThread) != 0;

    /// <summary>Queues a call. Never waits and never throws.</summary>
    public void Post(in T call)
    {
        try
        {
            using (Uninterrupted.Hold(_lock))
            {
                if (_waiting.Count < MaxWaiting)
                    _waiting.Enqueue(call);
                else
                    _lost++;
                Volatile.Write(ref _count, _waiting.Count);
            }
        }
        catch (OutOfMemoryException)
        {
            Interlocked.Increment(ref _lost);
        }
    }

    /// <summary>
    /// Makes the waiting calls on this thread, which must hold no engine lock. Does nothing while another thread, or this one further up
    /// its stack, is making calls.
    /// </summary>
    public void CallHere()
    {
        if (Volatile.Read(ref _count) == 0)
            return;
        LockOrder.AssertNoneHeld("The user's code is called");
        int most;
        using (Uninterrupted.Hold(_lock))
        {
            if (_callingThread != 0)
                return;
            _callingThread = Environment.CurrentManagedThreadId;

            // Calls that other threads add meanwhile are not for this thread, which has other work to do.
            most = _waiting.Count;
        }

        while (TryTake(ref most, out var call))
        {
            try
            {
                Call(call);
            }
            catch (Exception e)
            {
                Failed(call, e);
            }
        }

        CallElsewhere();
    }

    /// <summary>Passes the waiting calls to a pool thread.</summary>
    public void CallElsewhere()
    {
        if (Volatile.Read(ref _count) == 0)
            return;
        using (Uninterrupted.Hold(_lock))
        {
            if (_waiting.Count == 0 || _callingThread != 0 || _isQueued)
                return;
            _isQueued = true;
        }

        if (PoolWork.TryQueueToSchedule(this, runsHere: PlantedFault.CallObserverBelowWrite))
            return;

        // The next call of this method tries again.
        using (Uninterrupted.Hold(_lock))
            _isQueued = false;
    }

    /// <summary>
    /// Makes the waiting calls, and waits at most <paramref name="longest"/> for a call that another thread is making. Does not wait inside
    /// such a call. An interruption takes effect afterwards, so it does not undo anything that the caller has opened or closed before.
    /// </summary>
    public void Finish(TimeSpan longest)
    {
        var isInterrupted = false;
        FinishAll(longest, ref isInterrupted);
        Uninterrupted.PassOn(isInterrupted);
    }

    void IThreadPoolWorkItem.Execute()
    {
        using (Uninterrupted.Hold(_lock))
            _isQueued = false;
        CallHere();
    }

    /// <summary>Calls the user's code.</summary>
    protected abstract void Call(in T call);

    /// <summary>Reports a call that has thrown; must not throw.</summary>
    protected abstract void Failed(in T call, Exception failure);

    /// <summary>Reports calls that were never made, because one before them did not return; must not throw.</summary>
    protected abstract void Lost(long calls);

    private void FinishAll(TimeSpan longest, ref bool isInterrupted)
    {
        CallHere();
        var deadline = Environment.TickCount64 + (long)longest.TotalMilliseconds;
        while (true)
        {
            using (Uninterrupted.Hold(_lock))
            {
                if (_callingThread == 0 || _callingThread == Environment.CurrentManagedThreadId)
                    return;
                var left = deadline - Environment.TickCount64;
                if (left <= 0 || !Uninterrupted.Wait(_lock, (int)left, ref isInterrupted))
                    return;
            }

            CallHere();
        }
    }

    private bool TryTake(ref int most, out T call)
    {
        long lost;
        bool isTaken;
        using (Uninterrupted.Hold(_lock))
        {
            lost = Interlocked.Exchange(ref _lost, 0);
            call = default!;
            isTaken = most-- > 0 && _waiting.TryDequeue(out call!);
            Volatile.Write(ref _count, _waiting.Count);
            if (!isTaken)
            {
                _callingThread = 0;
                SchedulePoint.PulseAll(_lock);
            }
        }

        if (lost > 0)
            Lost(lost);
        return isTaken;
    }
}
