using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>Admits one writer at a time. Not bound to a thread: the holder may hand the writer on to another thread.</summary>
/// <remarks>
/// <para>
/// Callers wait in one queue, whether or not they block a thread. A caller that arrives while the writer is free takes it, even if others are
/// waiting: a waiting caller takes some 50 us to wake up, and several commits are made in that time. But if the first caller of the queue has
/// waited for longer than <see cref="Patience"/>, or does not block a thread, the writer is handed to it and is never free in between, so each
/// caller gets its turn.
/// </para>
/// <para>
/// A waiting caller keeps its place until it has the writer, or has left the queue under the queue's lock. An interruption, a timeout or a
/// cancellation that coincides with the handover therefore leaves the writer with the caller or with the next one, and never with none.
/// </para>
/// <para>
/// The writer comes before all locks: a thread that holds a lock never waits here, though it may check whether the writer is free. The lock of
/// the queue is the last of all: under it, nothing is called except the code that wakes a waiting caller.
/// </para>
/// </remarks>
internal sealed class WriterLock
{
    /// <summary>The number of attempts before a thread sleeps, as in the framework's semaphore.</summary>
    private const int Spins = 140;

    private static readonly TimeSpan Patience = TimeSpan.FromMilliseconds(10);

    private static readonly TimeSpan LongWait = TimeSpan.FromSeconds(5);

    // Created in advance: handing over the writer must not fail for lack of memory.
    private static readonly Action<CancellationTokenRegistration> Unregister = registration => registration.Unregister();
    private static readonly Action<Timer> DisposeTimer = timer => timer.Dispose();
    private static readonly Action<TaskCompletionSource> Complete = completion => completion.TrySetResult();

    // Protects the queue and the state of its waiters.
    private readonly Lock _queueLock = new();
    private readonly LinkedList<Waiter> _queue = new();
    private readonly Func<bool> _isFree;

    // A caller that arrives during a release is seen by at least one side: the arriving caller increments the count and then tries to take the
    // writer, and the releasing caller sets the writer free and then reads the count.
    private int _isHeld;
    private int _waiting;

    public WriterLock() => _isFree = () => Volatile.Read(ref _isHeld) == 0;

    /// <summary>Called once during each wait of more than five seconds, by any thread, with no lock held; must not throw.</summary>
    public Action? WaitsForLong { get; set; }

    /// <summary>True while a caller is in the queue.</summary>
    public bool HasQueue => Volatile.Read(ref _waiting) > 0;

    /// <summary>True while a caller holds the writer or waits for it. A hint for work that such callers should not wait for.</summary>
    public bool IsBusy => Volatile.Read(ref _isHeld) != 0 || HasQueue;

    public void Enter(CancellationToken cancellationToken) => TryEnter(Timeout.InfiniteTimeSpan, cancellationToken);

    /// <returns>False when the timeout expired first.</returns>
    /// <exception cref="OperationCanceledException">Cancelled before the writer was taken.</exception>
    /// <exception cref="ThreadInterruptedException">The thread was interrupted, and does not hold the writer.</exception>
    public bool TryEnter(TimeSpan timeout, CancellationToken cancellationToken)
    {
        if (timeout != TimeSpan.Zero)
            LockOrder.AssertNoneHeld("A thread waits for the writer");
        timeout = SchedulePoint.UntilFree(_isFree, timeout, cancellationToken);
        cancellationToken.ThrowIfCancellationRequested();
        return TryTake() || (timeout != TimeSpan.Zero && Wait(timeout, cancellationToken));
    }

    /// <summary>As <see cref="Enter"/>, without blocking a thread.</summary>
    public Task EnterAsync(CancellationToken cancellationToken)
    {
        // A schedule makes the thread wait: a call that continued when the writer is handed over would continue on a pool thread.
        SchedulePoint.UntilFree(_isFree, Timeout.InfiniteTimeSpan, cancellationToken);
        if (cancellationToken.IsCancellationRequested)
            return Task.FromCanceled(cancellationToken);
        if (TryTake())
            return Task.CompletedTask;
        var waiter = new AsynchronousWaiter(this, cancellationToken);
        Enqueue(waiter);
        waiter.StopIfOver();
        return waiter.Task;
    }

    /// <exception cref="UnreachableException">The writer is already free.</exception>
    public void Release()
    {
        if (_isFree())
            throw new UnreachableException("A thread released the writer, which was already free.");
        var isHeld = HasQueue;
        if (!isHeld)
            Interlocked.Exchange(ref _isHeld, 0);
        if (isHeld || HasQueue)
        {
            using (Uninterrupted.Hold(_queueLock))
                HandOn(isHeld);
        }

        SchedulePoint.Reach(SchedulePlace.WriterReleased);
    }

    /// <summary>In debug builds, asserts that the writer is held.</summary>
    [Conditional("DEBUG")]
    public void AssertHeld() => Debug.Assert(!_isFree(), "Only the holder of the writer may call this, but the writer is free.");

    [Conditional("DEBUG")]
    private void AssertQueueHeld() => Debug.Assert(_queueLock.IsHeldByCurrentThread, "The lock of the writer's queue must be held by this thread.");

    private bool TryTake() => Volatile.Read(ref _isHeld) == 0 && Interlocked.CompareExchange(ref _isHeld, 1, 0) == 0;

    private bool Wait(TimeSpan timeout, CancellationToken cancellationToken)
    {
        var start = Stopwatch.GetTimestamp();
        var spinner = default(SpinWait);
        for (var i = 0; i < Spins; i++)
        {
            spinner.SpinOnce(sleep1Threshold: -1);
            if (TryTake())
                return true;
        }

        var waiter = new BlockedWaiter();
        var registration = cancellationToken.UnsafeRegister(static woken => ((BlockedWaiter)woken!).Wake(), waiter);
        try
        {
            return Enqueue(waiter) || Wait(waiter, start, timeout, cancellationToken);
        }
        finally
        {
            // Does not wait for a callback that is already running: it wakes a waiter that no longer waits.
            Uninterrupted.Run(Unregister, registration);
        }
    }

    private bool Wait(BlockedWaiter waiter, long start, TimeSpan timeout, CancellationToken cancellationToken)
    {
        var isLong = false;
        while (true)
        {
            var waited = Stopwatch.GetElapsedTime(start);
            var left = timeout == Timeout.InfiniteTimeSpan ? TimeSpan.MaxValue : timeout - waited;
            var isOver = left <= TimeSpan.Zero;
            ThreadInterruptedException? interruption = null;
            try
            {
                if (!isLong && waited > LongWait)
                {
                    isLong = true;
                    WaitsForLong?.Invoke();
                }

                // Checked here because a cancellation may have caused the last wake-up, which did not obtain the writer.
                if (!isOver && !cancellationToken.IsCancellationRequested)
                    waiter.Sleep(left < LongWait ? left : LongWait);
            }
            catch (ThreadInterruptedException e)
            {
                interruption = e;
            }
            catch
            {
                // Out of memory. An abandoned place in the queue would be granted the writer.
                if (TakeOrLeave(waiter, leaves: true))
                    Release();
                throw;
            }

            // Read only once, so that a caller that throws has always left its place.
            var isCancelled = cancellationToken.IsCancellationRequested;
            if (TakeOrLeave(waiter, leaves: isOver || isCancelled || interruption != null))
            {
                Uninterrupted.PassOn(interruption != null);
                return true;
            }

            if (interruption != null)
                throw new ThreadInterruptedException(interruption.Message, interruption);
            if (isCancelled)
                throw new OperationCanceledException(cancellationToken);
            if (isOver)
                return false;
        }
    }

    // Returns true when the caller holds the writer and has left the queue. Otherwise the caller continues to wait, or leaves.
    private bool TakeOrLeave(BlockedWaiter waiter, bool leaves)
    {
        using (Uninterrupted.Hold(_queueLock))
        {
            if (waiter.IsGranted)
                return true;
            var isTaken = TryTake();
            if (isTaken || leaves)
                Remove(waiter);
            else
                waiter.GoToSleep();

            // The caller may have been woken because the writer is free, in which case the next waiter must be notified.
            if (!isTaken && leaves)
                HandOn(isHeld: false);
            return isTaken;
        }
    }

    // Returns true when the writer was free after all.
    private bool Enqueue(Waiter waiter)
    {
        using (Uninterrupted.Hold(_queueLock))
        {
            if (waiter.IsOver)
                return false;
            _queue.AddLast(waiter.Node);
            Interlocked.Increment(ref _waiting);
            if (!TryTake())
                return false;
            Grant(waiter);
            return true;
        }
    }

    private void Remove(Waiter waiter)
    {
        AssertQueueHeld();
        waiter.IsOver = true;
        if (waiter.Node.List == null)
            return;
        _queue.Remove(waiter.Node);
        Interlocked.Decrement(ref _waiting);
    }

    private void Grant(Waiter waiter)
    {
        AssertQueueHeld();
        Debug.Assert(!waiter.IsOver && !waiter.IsGranted, "The writer must go to a caller that still waits.");
        Debug.Assert(!_isFree(), "The writer must be taken before it is handed to a waiting caller.");
        Remove(waiter);
        waiter.IsGranted = true;
        waiter.Wake();
    }

    // Called under the queue's lock. The caller either gives up the writer, or has left a place that may have been woken because of it.
    private void HandOn(bool isHeld)
    {
        AssertQueueHeld();
        Debug.Assert(!isHeld || !_isFree(), "The writer must be held by the caller that hands it on.");
        var first = _queue.First?.Value;
        if (first != null && HasPriority(first))
        {
            if (isHeld || TryTake())
                Grant(first);
            return;
        }

        if (isHeld)
            Interlocked.Exchange(ref _isHeld, 0);
        first?.Wake();
    }

    private static bool HasPriority(Waiter first) =>
        !first.BlocksThread || (Stopwatch.GetElapsedTime(first.Since) > Patience && !PlantedFault.BargeForEver);

    private void Leave(AsynchronousWaiter waiter)
    {
        using (Uninterrupted.Hold(_queueLock))
        {
            if (waiter.IsOver)
                return;
            Remove(waiter);
        }

        waiter.Cancel();
    }

    private abstract class Waiter
    {
        protected Waiter() => Node = new LinkedListNode<Waiter>(this);

        public LinkedListNode<Waiter> Node { get; }

        public long Since { get; } = Stopwatch.GetTimestamp();

        public abstract bool BlocksThread { get; }

        /// <summary>True when the waiter holds the writer.</summary>
        public bool IsGranted { get; set; }

        /// <summary>True when the waiter no longer waits.</summary>
        public bool IsOver { get; set; }

        public abstract void Wake();
    }

    private sealed class BlockedWaiter : Waiter
    {
        private bool _isWoken;

        public override bool BlocksThread => true;

        public override void Wake()
        {
            using (Uninterrupted.Hold(this))
            {
                if (_isWoken)
                    return;
                _isWoken = true;
                Monitor.Pulse(this);
            }
        }

        /// <summary>Returns when the waiter has been woken, or when the time has expired.</summary>
        /// <exception cref="ThreadInterruptedException">The thread was interrupted.</exception>
        public void Sleep(TimeSpan longest)
        {
            using (Uninterrupted.Hold(this))
            {
                if (!_isWoken)
                    Monitor.Wait(this, longest);
            }
        }

        /// <summary>Clears a wake-up that did not obtain the writer.</summary>
        public void GoToSleep()
        {
            using (Uninterrupted.Hold(this))
                _isWoken = false;
        }
    }

    [SuppressMessage("Design", "CA1001", Justification = "The timer is disposed of when the wait is over, which it always is once.")]
    private sealed class AsynchronousWaiter : Waiter
    {
        private readonly TaskCompletionSource _completion = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly CancellationToken _cancellationToken;
        private readonly CancellationTokenRegistration _registration;
        private readonly Timer _timer;

        public AsynchronousWaiter(WriterLock writerLock, CancellationToken cancellationToken)
        {
            _cancellationToken = cancellationToken;
            _timer = new Timer(_ => writerLock.WaitsForLong?.Invoke(), null, LongWait, Timeout.InfiniteTimeSpan);
            _registration = cancellationToken.UnsafeRegister(_ => writerLock.Leave(this), null);
        }

        public Task Task => _completion.Task;

        public override bool BlocksThread => false;

        // The waking thread may be interrupted, and all of these calls take locks.
        public override void Wake()
        {
            Uninterrupted.Run(Complete, _completion);
            Stop();
        }

        public void Cancel()
        {
            Uninterrupted.Run(() => _completion.TrySetCanceled(_cancellationToken));
            Stop();
        }

        /// <summary>Stops the timer and the registration of a wait that ended while it was being set up.</summary>
        public void StopIfOver()
        {
            if (IsOver)
                Stop();
        }

        // A callback that is already running finds that the wait is over.
        private void Stop()
        {
            Uninterrupted.Run(DisposeTimer, _timer);
            Uninterrupted.Run(Unregister, _registration);
        }
    }
}
