using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Voron.Primitives;

/// <summary>A lock with its place in <see cref="LockOrder"/>, and one where a test may decide which thread goes on.</summary>
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
        return new Scope(_lock.EnterScope(), rank);
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

    public ref struct Scope
    {
        private readonly LockRank _rank;
        private Lock.Scope _scope;

        public Scope(Lock.Scope scope, LockRank rank)
        {
            _scope = scope;
            _rank = rank;
        }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Dispose()
        {
            _scope.Dispose();
            if (LockOrder.IsOn)
                LockOrder.Left(_rank);
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
        Monitor.Enter(this);
        return new Scope(this);
    }

    /// <summary>Waits, without the lock, until another thread calls <see cref="PulseAll"/>; the lock is held.</summary>
    /// <returns>False when the time was over first.</returns>
    public bool Wait(int milliseconds = Timeout.Infinite) => SchedulePoint.Wait(this, milliseconds);

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
