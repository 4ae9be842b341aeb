using System.Runtime.CompilerServices;
using Voron.Testing;

namespace Voron.Primitives;

/// <summary>
/// Waits that <see cref="Thread.Interrupt"/> does not abort: the thread is interrupted after the wait. For work that must not stop half-way, and for
/// threads that work on behalf of others.
/// </summary>
internal static class Uninterrupted
{
    private static readonly Action<Action> Call = static wait => wait();

    /// <summary>Takes a lock. Disposing the result releases it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static LockScope Hold(Lock gate)
    {
        if (!gate.TryEnter())
            Enter(gate);
        return new LockScope(gate);
    }

    /// <summary>Takes the monitor of an object. Disposing the result releases it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static MonitorScope Hold(object gate)
    {
        if (!Monitor.TryEnter(gate))
            Enter(gate);
        return new MonitorScope(gate);
    }

    /// <summary>Takes a lock that was not free.</summary>
    public static void Enter(Lock gate)
    {
        var isInterrupted = false;
        while (true)
        {
            try
            {
                gate.Enter();
                break;
            }
            catch (ThreadInterruptedException)
            {
                isInterrupted = true;
            }
        }

        PassOn(isInterrupted);
    }

    /// <summary>Takes the monitor of an object.</summary>
    public static void Enter(object gate)
    {
        var isInterrupted = false;
        while (true)
        {
            try
            {
                Monitor.Enter(gate);
                break;
            }
            catch (ThreadInterruptedException)
            {
                isInterrupted = true;
            }
        }

        PassOn(isInterrupted);
    }

    /// <summary>Waits, and waits again if the thread was interrupted.</summary>
    /// <param name="wait">May be called more than once; returns when the wait is over.</param>
    public static void Run(Action wait) => Run(Call, wait);

    /// <summary>As <see cref="Run(Action)"/>, for callers that must not allocate.</summary>
    public static void Run<T>(Action<T> wait, T state)
    {
        var isInterrupted = false;
        while (true)
        {
            try
            {
                wait(state);
                break;
            }
            catch (ThreadInterruptedException)
            {
                isInterrupted = true;
            }
        }

        PassOn(isInterrupted);
    }

    /// <summary>Waits on a monitor that the thread holds. An interruption is recorded, and ends the wait as a pulse would.</summary>
    /// <returns>False when the time has elapsed.</returns>
    public static bool Wait(object gate, int milliseconds, ref bool isInterrupted)
    {
        try
        {
            return SchedulePoint.Wait(gate, milliseconds);
        }
        catch (ThreadInterruptedException)
        {
            isInterrupted = true;
            return true;
        }
    }

    /// <summary>Interrupts the calling thread at its next wait, if it was interrupted during an earlier one.</summary>
    public static void PassOn(bool isInterrupted)
    {
        if (isInterrupted)
            Thread.CurrentThread.Interrupt();
    }

    public readonly ref struct LockScope(Lock gate)
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Dispose() => gate.Exit();
    }

    public readonly ref struct MonitorScope(object gate)
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Dispose() => Monitor.Exit(gate);
    }
}
