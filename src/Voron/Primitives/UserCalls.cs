namespace Voron.Primitives;

/// <summary>The one way in which the engine calls the user's code: observers and log.</summary>
/// <remarks>
/// <para>
/// The engine only notes what is to be told (<see cref="Post"/>). The user is called later, by a thread that holds no lock of the engine, is
/// not one of its own, and has nothing of the engine's to finish: a caller at the end of its call, or a thread of the pool. So the
/// user's code may throw, block, call any member of the environment, and close it.
/// </para>
/// <para>Calls are made one at a time, in the order of the posts.</para>
/// </remarks>
internal abstract class UserCalls<T> : IThreadPoolWorkItem
{
    /// <summary>What a call that does not return may keep waiting; more is lost, and counted.</summary>
    private const int MaxWaiting = 1 << 16;

    private readonly object _lock = new();
    private readonly Queue<T> _waiting = new();
    private long _lost;
    private int _callingThread;
    private int _count;
    private bool _isQueued;

    /// <summary>Notes a call. Waits for nothing and never throws.</summary>
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
    /// Makes the calls that wait, on this thread, which must hold no lock of the engine's. Does nothing while another thread, or this
    /// one further up its stack, makes some.
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

            // What others add meanwhile is not for this thread, which has been called to do something else.
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

    /// <summary>Has a thread of the pool make the calls that wait.</summary>
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

        try
        {
            SchedulePoint.Queue(this);
        }
        catch (OutOfMemoryException)
        {
            // The next one tries again.
            using (Uninterrupted.Hold(_lock))
                _isQueued = false;
        }
    }

    /// <summary>
    /// Makes the calls that wait, and waits for one that another thread makes, for a time at most. Does not wait inside such a call. What the
    /// caller has opened or closed before stays so: an interruption comes afterwards.
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
