using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Voron.Primitives;

/// <summary>A lock with its place in <see cref="LockOrder"/>, and one where a test may decide which thread goes on.</summary>
/// <remarks>
/// A thread that is interrupted while it waits gets the lock all the same, and is interrupted at its next wait: an exception here would
/// break off work that is half done.
/// </remarks>
internal sealed class EngineLock(LockRank rank)
{
    private readonly Lock _lock = new();

    /// <summary>Takes the lock; to be left by disposing the result.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Scope Enter()
    {
        SchedulePoint.UntilFree(_lock);
        if (LockOrder.IsOn)
            LockOrder.Entering(rank);
        if (!_lock.TryEnter())
            Uninterrupted.Enter(_lock);
        return new Scope(_lock, rank);
    }

    /// <summary>Takes the lock and leaves it again, if that is possible within a time.</summary>
    public bool TryPass(TimeSpan timeout)
    {
        if (!_lock.TryEnter(timeout))
            return false;
        _lock.Exit();
        return true;
    }

    [Conditional("DEBUG")]
    public void AssertHeld() => Debug.Assert(_lock.IsHeldByCurrentThread, $"{rank} is not held");

    public readonly ref struct Scope(Lock held, LockRank rank)
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Dispose()
        {
            held.Exit();
            if (LockOrder.IsOn)
                LockOrder.Left(rank);
        }
    }
}

/// <summary>As <see cref="EngineLock"/>, for threads that wait for one another.</summary>
internal sealed class EngineMonitor(LockRank rank)
{
    /// <inheritdoc cref="EngineLock.Enter"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Scope Enter()
    {
        if (LockOrder.IsOn)
            LockOrder.Entering(rank);
        if (!Monitor.TryEnter(this))
            Uninterrupted.Enter(this);
        return new Scope(this);
    }

    /// <summary>Waits, without the lock, until another thread calls <see cref="PulseAll"/>; the lock is held.</summary>
    /// <returns>False when the time was over first.</returns>
    /// <exception cref="ThreadInterruptedException">The thread was interrupted. It has the lock.</exception>
    public bool Wait(int milliseconds = Timeout.Infinite) => SchedulePoint.Wait(this, milliseconds);

    /// <summary>As <see cref="Wait(int)"/>, without end, for a caller that looks again for what it waits for.</summary>
    /// <param name="isInterrupted">Set when the thread was interrupted, which ends this wait; the caller passes it on when it is done.</param>
    public void Wait(ref bool isInterrupted)
    {
        try
        {
            SchedulePoint.Wait(this);
        }
        catch (ThreadInterruptedException)
        {
            isInterrupted = true;
        }
    }

    public void PulseAll() => SchedulePoint.PulseAll(this);

    public readonly ref struct Scope(EngineMonitor monitor)
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Dispose()
        {
            Monitor.Exit(monitor);
            if (LockOrder.IsOn)
                LockOrder.Left(monitor.Rank);
        }
    }

    private LockRank Rank => rank;
}
