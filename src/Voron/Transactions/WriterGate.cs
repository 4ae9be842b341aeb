using System.Diagnostics;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>One writer at a time. Bound to no thread: who takes it may hand it on.</summary>
/// <remarks>It comes before all locks: a thread that holds one never waits here, though it may look whether the writer is free.</remarks>
internal sealed class WriterGate : IDisposable
{
    // A semaphore of the framework counts a thread as woken that was interrupted at that moment, and then wakes no other. So no thread sleeps for
    // longer than this without having looked.
    private static readonly TimeSpan LongestSleep = TimeSpan.FromMilliseconds(200);

    private readonly SemaphoreSlim _semaphore = new(1, 1);

    public void Enter(CancellationToken cancellationToken) => TryEnter(Timeout.InfiniteTimeSpan, cancellationToken);

    public bool TryEnter(TimeSpan timeout, CancellationToken cancellationToken)
    {
        if (timeout != TimeSpan.Zero)
            LockOrder.AssertNoneHeld("The writer is waited for");
        timeout = SchedulePoint.UntilFree(_semaphore, timeout, cancellationToken);
        var start = Stopwatch.GetTimestamp();
        var left = timeout;
        while (timeout == Timeout.InfiniteTimeSpan || left > LongestSleep)
        {
            if (_semaphore.Wait(LongestSleep, cancellationToken))
                return true;
            left = timeout - Stopwatch.GetElapsedTime(start);
        }

        return _semaphore.Wait(left > TimeSpan.Zero ? left : TimeSpan.Zero, cancellationToken);
    }

    public Task<bool> TryEnterAsync(TimeSpan timeout, CancellationToken cancellationToken) => _semaphore.WaitAsync(timeout, cancellationToken);

    public Task EnterAsync(CancellationToken cancellationToken) => _semaphore.WaitAsync(cancellationToken);

    public void Release()
    {
        try
        {
            _semaphore.Release();
        }
        catch (ThreadInterruptedException)
        {
            // It takes a lock of its own, and has changed nothing yet.
            Uninterrupted.Run(() => _semaphore.Release());
            Uninterrupted.PassOn(isInterrupted: true);
        }

        SchedulePoint.Reach(SchedulePlace.WriterReleased);
    }

    /// <summary>In debug builds: stops where the writer should be held, and nobody holds it.</summary>
    [Conditional("DEBUG")]
    public void AssertHeld() => Debug.Assert(_semaphore.CurrentCount == 0, "This is for the holder of the writer, and nobody holds it.");

    public void Dispose() => _semaphore.Dispose();
}
