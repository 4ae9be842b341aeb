using System.Runtime.CompilerServices;

namespace Voron.Primitives;

/// <summary>Where threads hand something over, publish, or look at what others have published.</summary>
internal enum SchedulePlace
{
    /// <summary>A test's own, between what it does.</summary>
    Script,
    WriterTaken,
    WriterReleased,
    Submitting,
    FileBeginning,
    FilePreparing,
    Queued,
    Writing,
    Written,
    Published,
    Publishing,
    Acknowledged,
    StateCopied,
    SlotStored,
    SnapshotConfirmed,
    HorizonRaised,
    SlotScanned,
    Joining,
    JoinStored,
    TargetChosen,
    FlushListed,
    FlushWritten,
    FlushSynced,
    CheckpointWritten,
    JournalReleased,
    KeyHeadsInvalidated,
    VersionsDetached,
    VersionDropped,
    VersionRead,
    KeyHeadsMaking,
    KeyHeadsRead,
    Growing,
    Grown,
    MapMoved,
    FileCut,
    Idle,
    Closing,
}

/// <summary>What a test has in the place of the system's scheduler: of its threads one runs at a time.</summary>
internal interface ISchedule
{
    /// <summary>Another thread may go on in place of this one.</summary>
    void Reach(SchedulePlace place);

    /// <summary>Others go on until the condition holds; false when time is over, which is so when nobody else can go on.</summary>
    bool WaitUntil(Func<bool> condition, bool mayTimeOut);

    /// <summary>Others go on until one of them signals the object.</summary>
    /// <inheritdoc cref="WaitUntil"/>
    bool WaitFor(object signalled, bool mayTimeOut);

    void Signal(object signalled);

    /// <summary>Somebody else has to go on first.</summary>
    void Spin();

    /// <summary>What a new thread has to run so that it is one of those that run one at a time.</summary>
    ThreadStart Adopt(ThreadStart work, object owner);

    /// <summary>Has the work done by a thread of its own.</summary>
    void Queue(IThreadPoolWorkItem work);

    /// <summary>Whether the threads of that owner have ended.</summary>
    bool HaveEnded(object owner);
}

/// <summary>
/// Marks of places at which a test decides which thread goes on, and stand-ins for what threads wait with. All of it is folded away
/// by the compiler unless the process sets "Voron.SchedulePoints" as application data before it uses the engine, and means
/// nothing to threads without a schedule.
/// </summary>
internal static class SchedulePoint
{
    /// <summary>True where tests may have schedules.</summary>
    public static readonly bool IsOn = AppContext.GetData("Voron.SchedulePoints") is not null;

    /// <summary>Of the calling thread.</summary>
    [field: ThreadStatic]
    public static ISchedule? Current { get; set; }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Reach(SchedulePlace place)
    {
        if (IsOn)
            Current?.Reach(place);
    }

    /// <summary>To stand in a loop that waits for another thread without saying so.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Spin()
    {
        if (IsOn)
            Current?.Spin();
    }

    /// <summary>To stand before a lock within which there are places.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void UntilFree(Lock gate)
    {
        if (IsOn)
            WaitFor(gate);
    }

    /// <summary>To stand before the wait for the writer.</summary>
    /// <param name="isFree">Whether it can be taken.</param>
    /// <returns>How long is left to wait.</returns>
    public static TimeSpan UntilFree(Func<bool> isFree, TimeSpan timeout, CancellationToken cancellationToken) =>
        IsOn ? WaitFor(isFree, timeout, cancellationToken) : timeout;

    /// <inheritdoc cref="Monitor.Wait(object, int)"/>
    public static bool Wait(object gate, int milliseconds = Timeout.Infinite)
    {
        if (!IsOn || Current is not { } schedule)
            return Monitor.Wait(gate, milliseconds);
        Monitor.Exit(gate);
        try
        {
            return schedule.WaitFor(gate, milliseconds != Timeout.Infinite);
        }
        finally
        {
            Monitor.Enter(gate);
        }
    }

    public static void PulseAll(object gate)
    {
        if (IsOn)
            Current?.Signal(gate);
        Monitor.PulseAll(gate);
    }

    public static void WaitOne(AutoResetEvent signal, TimeSpan timeout)
    {
        if (!IsOn || Current is not { } schedule)
        {
            signal.WaitOne(timeout);
            return;
        }

        while (!signal.WaitOne(TimeSpan.Zero))
        {
            if (!schedule.WaitFor(signal, timeout != Timeout.InfiniteTimeSpan))
                return;
        }
    }

    public static void Set(AutoResetEvent signal)
    {
        signal.Set();
        if (IsOn)
            Current?.Signal(signal);
    }

    /// <summary>What a thread of the engine has to run.</summary>
    /// <param name="owner">By what <see cref="UntilEnded"/> knows it.</param>
    public static ThreadStart Adopt(ThreadStart work, object owner) => IsOn && Current is { } schedule ? schedule.Adopt(work, owner) : work;

    /// <summary>To stand before a thread is joined.</summary>
    public static void UntilEnded(object owner)
    {
        if (IsOn && Current is { } schedule)
            schedule.WaitUntil(() => schedule.HaveEnded(owner), mayTimeOut: false);
    }

    /// <inheritdoc cref="ThreadPool.UnsafeQueueUserWorkItem(IThreadPoolWorkItem, bool)"/>
    public static void Queue(IThreadPoolWorkItem work)
    {
        if (IsOn && Current is { } schedule)
            schedule.Queue(work);
        else
            ThreadPool.UnsafeQueueUserWorkItem(work, preferLocal: false);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void WaitFor(Lock gate)
    {
        if (Current is not { } schedule || IsFree(gate) || gate.IsHeldByCurrentThread)
            return;
        schedule.WaitUntil(() => IsFree(gate), mayTimeOut: false);
    }

    // By itself, because what it hands on is allocated where the method begins.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static TimeSpan WaitFor(Func<bool> isFree, TimeSpan timeout, CancellationToken cancellationToken)
    {
        if (Current is not { } schedule || timeout == TimeSpan.Zero)
            return timeout;
        return schedule.WaitUntil(() => isFree() || cancellationToken.IsCancellationRequested, timeout != Timeout.InfiniteTimeSpan)
            ? timeout
            : TimeSpan.Zero;
    }

    // Asked by any of the threads: one that holds it would get it again.
    private static bool IsFree(Lock gate)
    {
        if (gate.IsHeldByCurrentThread || !gate.TryEnter())
            return false;
        gate.Exit();
        return true;
    }
}
