using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Voron.Testing;

/// <summary>
/// Marks the places at which a test decides which thread continues, and wraps the primitives that threads wait with. The compiler folds
/// all of it away unless the process sets "Voron.SchedulePoints" as application data before it uses the engine. It has no effect on threads
/// without a schedule.
/// </summary>
internal static class SchedulePoint
{
    /// <summary>True when tests may use schedules.</summary>
    public static readonly bool IsOn = AppContext.GetData("Voron.SchedulePoints") is not null;

    /// <summary>The schedule of the calling thread.</summary>
    [field: ThreadStatic]
    public static ISchedule? Current { get; set; }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Reach(SchedulePlace place)
    {
        if (IsOn)
            Current?.Reach(place);
    }

    /// <summary>Must be called in a loop that waits for another thread by polling.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Spin()
    {
        if (IsOn)
            Current?.Spin();
    }

    /// <summary>Must be called for the pause before another attempt. Under a schedule, the pause ends after another thread has continued.</summary>
    public static Task Pause(TimeSpan pause, CancellationToken stop, TimeProvider? clock = null)
    {
        if (!IsOn || Current is not { } schedule)
            return Task.Delay(pause, clock ?? TimeProvider.System, stop);
        schedule.Spin();
        return stop.IsCancellationRequested ? Task.FromCanceled(stop) : Task.CompletedTask;
    }

    /// <summary>
    /// Must be called for a task that work on the pool awaits. Under a schedule, the thread waits, because a continuation of the work would run on a
    /// thread outside the schedule.
    /// </summary>
    public static ValueTask UntilCompleted(ValueTask task) => IsOn && Current is { } schedule ? UntilCompleted(schedule, task) : task;

    /// <summary>Must be called before taking a lock under which places are reached.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void UntilFree(Lock gate)
    {
        if (IsOn)
            WaitFor(gate);
    }

    /// <summary>Must be called before the wait for the writer.</summary>
    /// <param name="isFree">Returns whether the writer can be taken.</param>
    /// <returns>The remaining time to wait.</returns>
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

    /// <returns>False when the time has elapsed.</returns>
    public static bool WaitOne(AutoResetEvent signal, TimeSpan timeout)
    {
        if (!IsOn || Current is not { } schedule)
            return signal.WaitOne(timeout);
        while (!signal.WaitOne(TimeSpan.Zero))
        {
            if (!schedule.WaitFor(signal, timeout != Timeout.InfiniteTimeSpan))
                return false;
        }

        return true;
    }

    public static void Set(AutoResetEvent signal)
    {
        signal.Set();
        if (IsOn)
            Current?.Signal(signal);
    }

    /// <summary>Returns the work that an engine thread must run.</summary>
    /// <param name="owner">The object by which <see cref="UntilEnded"/> identifies the thread.</param>
    public static ThreadStart Adopt(ThreadStart work, object owner) => IsOn && Current is { } schedule ? schedule.Adopt(work, owner) : work;

    /// <summary>Must be called before a thread is joined.</summary>
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

    [SuppressMessage("Reliability", "CA2012", Justification = "It is looked at until it has completed, and its result is taken once.")]
    private static ValueTask UntilCompleted(ISchedule schedule, ValueTask task)
    {
        schedule.WaitUntil(() => task.IsCompleted, mayTimeOut: false);
        return task;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void WaitFor(Lock gate)
    {
        if (Current is not { } schedule || IsFree(gate) || gate.IsHeldByCurrentThread)
            return;
        WaitFor(schedule, gate);
    }

    // Separate methods, because a closure is allocated at the start of its method, and threads without a schedule must allocate none.
    private static void WaitFor(ISchedule schedule, Lock gate) => schedule.WaitUntil(() => IsFree(gate), mayTimeOut: false);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static TimeSpan WaitFor(Func<bool> isFree, TimeSpan timeout, CancellationToken cancellationToken)
    {
        if (Current is not { } schedule || timeout == TimeSpan.Zero)
            return timeout;
        return WaitFor(schedule, isFree, mayTimeOut: timeout != Timeout.InfiniteTimeSpan, cancellationToken) ? timeout : TimeSpan.Zero;
    }

    private static bool WaitFor(ISchedule schedule, Func<bool> isFree, bool mayTimeOut, CancellationToken cancellationToken) =>
        schedule.WaitUntil(() => isFree() || cancellationToken.IsCancellationRequested, mayTimeOut);

    // Any of the threads may call this. A thread that holds the lock would enter it again.
    private static bool IsFree(Lock gate)
    {
        if (gate.IsHeldByCurrentThread || !gate.TryEnter())
            return false;
        gate.Exit();
        return true;
    }
}
