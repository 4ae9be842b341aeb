using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.Testing;

namespace Voron.Primitives;

/// <summary>A lock with a place in <see cref="LockOrder"/>, at which a test may decide which thread continues.</summary>
/// <remarks>
/// A thread that is interrupted while it waits still gets the lock, and is interrupted at its next wait. An exception here would abort
/// half-finished work.
/// </remarks>
internal sealed class EngineLock(LockRank rank)
{
    private readonly Lock _lock = new();

    /// <summary>Takes the lock. Disposing the result releases it.</summary>
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

    /// <summary>In debug builds, asserts that this thread holds the lock.</summary>
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
