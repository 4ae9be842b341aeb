using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.Testing;

namespace Voron.Primitives;

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

    /// <summary>Waits until another thread calls <see cref="PulseAll"/>. The caller holds the lock, which is released during the wait.</summary>
    /// <returns>False when the time ran out first.</returns>
    /// <exception cref="ThreadInterruptedException">The thread was interrupted. It holds the lock.</exception>
    public bool Wait(int milliseconds = Timeout.Infinite) => SchedulePoint.Wait(this, milliseconds);

    /// <summary>As <see cref="Wait(int)"/>, without a time limit, for a caller that checks its condition again afterwards.</summary>
    /// <param name="isInterrupted">
    /// Set when the thread was interrupted, which ends this wait. The caller must pass the interruption on when it is done.
    /// </param>
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

    /// <inheritdoc cref="EngineLock.AssertHeld"/>
    [Conditional("DEBUG")]
    public void AssertHeld() => Debug.Assert(Monitor.IsEntered(this), $"{rank} is not held");

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
