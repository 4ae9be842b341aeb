using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>One writer at a time. Bound to no thread: who takes it may hand it on.</summary>
/// <remarks>
/// <para>
/// Callers wait in one queue, whether they block a thread or not. A caller that comes while the writer is free takes it, though others may be
/// waiting: one that has to be woken needs some 50 us for it, in which several commits are made. But where the first of the queue has waited
/// for <see cref="Patience"/>, or blocks no thread, the writer goes to it and is never free in between, so that each gets its turn.
/// </para>
/// <para>
/// A waiting caller has its place until it has the writer, or has left the queue under its lock: an interruption, a timeout or a
/// cancellation that meets the handing over leaves the writer with the caller or with the next one, and never with none.
/// </para>
/// <para>
/// The writer comes before all locks: a thread that holds one never waits here, though it may look whether the writer is free. The lock of the
/// queue is the last of all: nothing is called under it but what wakes a waiting caller.
/// </para>
/// </remarks>
internal sealed class WriterLock
{
    /// <summary>As often as the framework's semaphore looks before it puts a thread to sleep.</summary>
    private const int Spins = 140;

    private static readonly TimeSpan Patience = TimeSpan.FromMilliseconds(10);

    private static readonly TimeSpan LongWait = TimeSpan.FromSeconds(5);

    // Made ahead: where the writer changes hands nothing may fail for want of memory.
    private static readonly Action<CancellationTokenRegistration> Unregister = registration => registration.Unregister();
    private static readonly Action<Timer> DisposeTimer = timer => timer.Dispose();
    private static readonly Action<TaskCompletionSource> Complete = completion => completion.TrySetResult();

    // Protects the queue and the fates of those in it.
    private readonly Lock _queueLock = new();
    private readonly LinkedList<Waiter> _queue = new();
    private readonly Func<bool> _isFree;

    // Either the one or the other sees a caller that comes while the writer is released: who comes raises the count and then tries to take
    // the writer, who releases it sets it free and then reads the count.
    private int _isHeld;
    private int _waiting;

    public WriterLock() => _isFree = () => Volatile.Read(ref _isHeld) == 0;

    /// <summary>Called once in each wait of more than five seconds, by any thread, under no lock; must not throw.</summary>
    public Action? WaitsForLong { get; set; }

    /// <summary>True while a caller is in the queue.</summary>
    public bool HasQueue => Volatile.Read(ref _waiting) > 0;

    public void Enter(CancellationToken cancellationToken) => TryEnter(Timeout.InfiniteTimeSpan, cancellationToken);

    /// <returns>False when the time was over first.</returns>
    /// <exception cref="OperationCanceledException">Cancelled before the writer was taken.</exception>
    /// <exception cref="ThreadInterruptedException">The thread was interrupted, and does not have the writer.</exception>
    public bool TryEnter(TimeSpan timeout, CancellationToken cancellationToken)
    {
        if (timeout != TimeSpan.Zero)
            LockOrder.AssertNoneHeld("The writer is waited for");
        timeout = SchedulePoint.UntilFree(_isFree, timeout, cancellationToken);
        cancellationToken.ThrowIfCancellationRequested();
        return TryTake() || (timeout != TimeSpan.Zero && Wait(timeout, cancellationToken));
    }

    /// <summary>As <see cref="Enter"/>, without blocking a thread.</summary>
    public Task EnterAsync(CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
            return Task.FromCanceled(cancellationToken);
        if (TryTake())
            return Task.CompletedTask;
        var waiter = new AsynchronousWaiter(this, cancellationToken);
        Enqueue(waiter);
        waiter.StopIfOver();
        return waiter.Task;
    }

    /// <exception cref="UnreachableException">The writer is free already.</exception>
    public void Release()
    {
        if (_isFree())
            throw new UnreachableException("The writer is released, and was free already.");
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

    /// <summary>In debug builds: stops where the writer should be held, and is free.</summary>
    [Conditional("DEBUG")]
    public void AssertHeld() => Debug.Assert(!_isFree(), "This is for the holder of the writer, and it is free.");

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
            // Without waiting for a callback that is under way: it wakes a waiter that does not wait.
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

                // Looked at here, since the last waking that came to nothing may have been this one.
                if (!isOver && !cancellationToken.IsCancellationRequested)
                    waiter.Sleep(left < LongWait ? left : LongWait);
            }
            catch (ThreadInterruptedException e)
            {
                interruption = e;
            }
            catch
            {
                // For want of memory. A place that is left behind would be given the writer.
                if (TakeOrLeave(waiter, leaves: true))
                    Release();
                throw;
            }

            // Asked once: a caller that throws has left its place.
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

    // True when the caller has the writer, and its place in the queue no more. Else it goes on waiting, or leaves.
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

            // It may have been woken for a writer that is free, which the next one has to know then.
            if (!isTaken && leaves)
                HandOn(isHeld: false);
            return isTaken;
        }
    }

    // True when the writer was free after all.
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
        waiter.IsOver = true;
        if (waiter.Node.List == null)
            return;
        _queue.Remove(waiter.Node);
        Interlocked.Decrement(ref _waiting);
    }

    private void Grant(Waiter waiter)
    {
        Remove(waiter);
        waiter.IsGranted = true;
        waiter.Wake();
    }

    // Under the lock of the queue. The caller has the writer and gives it up, or has left a place that may have been woken for it.
    private void HandOn(bool isHeld)
    {
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

        /// <summary>It has the writer.</summary>
        public bool IsGranted { get; set; }

        /// <summary>It waits no more.</summary>
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

        /// <summary>Returns when it was woken, or when the time is over.</summary>
        /// <exception cref="ThreadInterruptedException">The thread was interrupted.</exception>
        public void Sleep(TimeSpan longest)
        {
            using (Uninterrupted.Hold(this))
            {
                if (!_isWoken)
                    Monitor.Wait(this, longest);
            }
        }

        /// <summary>What has woken it came to nothing.</summary>
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

        // The thread that wakes it may be interrupted, and all of these take locks.
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

        /// <summary>For a wait that ended while it was being made.</summary>
        public void StopIfOver()
        {
            if (IsOver)
                Stop();
        }

        // A callback that is under way finds that the wait is over.
        private void Stop()
        {
            Uninterrupted.Run(DisposeTimer, _timer);
            Uninterrupted.Run(Unregister, _registration);
        }
    }
}
