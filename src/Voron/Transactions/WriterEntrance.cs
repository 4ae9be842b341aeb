using System.Diagnostics;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>
/// Admits callers to the writer: delays them under back-pressure, for a limited time, and refuses them when the environment is being closed.
/// </summary>
internal sealed class WriterEntrance
{
    private static readonly Action<CancellationTokenSource> DisposeSource = source => source.Dispose();

    private readonly EngineCore _engine;
    private readonly SingleWriter _writer;
    private readonly WriteTransactionPool _transactions;
    private readonly IFlushServices _flushServices;
    private long _reportedFor = -1;
    private long _collectedFor = -1;

    public WriterEntrance(EngineCore engine, SingleWriter writer, WriteTransactionPool transactions, IFlushServices flushServices)
    {
        _engine = engine;
        _writer = writer;
        _transactions = transactions;
        _flushServices = flushServices;
        writer.WaitsForLong = ReportHolder;
    }

    /// <summary>Refuses a thread that would wait for its own open transaction, except a pool thread, which may run other code by now.</summary>
    /// <exception cref="InvalidOperationException">The thread has begun the open transaction.</exception>
    public void ThrowIfOwn(string call)
    {
        if (!_transactions.IsOpenBy(Environment.CurrentManagedThreadId) || PlantedFault.WaitForItself)
            return;
        LookForLeak(_writer.TransactionId);
        throw new InvalidOperationException(
            $"{call} would wait for itself: this thread has begun write transaction {_writer.TransactionId} of '{_engine.Disk.Path}', which is still open. Commit or " +
            "dispose of it first, or pass it to the code that is called. A thread that hands its transaction over must wait for its end in another way.");
    }

    /// <param name="timeout">
    /// The longest time to wait for the writer; <see cref="TimeSpan.MaxValue"/> or <see cref="Timeout.InfiniteTimeSpan"/> for no limit.
    /// </param>
    /// <exception cref="TimeoutException">Another write transaction is open, and was not ended in time.</exception>
    /// <exception cref="OperationCanceledException">Cancelled while waiting.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, perhaps while the call waited.</exception>
    public WriteTransactionBody Begin(TimeSpan timeout, CancellationToken cancellationToken)
    {
        if (timeout == Timeout.InfiniteTimeSpan)
            timeout = TimeSpan.MaxValue;
        if (timeout == TimeSpan.MaxValue)
            ThrowIfOwn(nameof(StorageEnvironment.BeginWrite));
        ArgumentOutOfRangeException.ThrowIfLessThan(timeout, TimeSpan.Zero);
        var left = timeout - _flushServices.ThrottleWriter(timeout);
        var durations = _engine.Observers.Durations;
        var began = durations.Begin(TimedWork.WriterWait);
        var isHeld = _writer.TryEnter(TimeSpan.Zero, cancellationToken) || Wait(left > TimeSpan.Zero ? left : TimeSpan.Zero, cancellationToken);
        durations.End(TimedWork.WriterWait, began);
        if (!isHeld)
        {
            _engine.Observers.CallElsewhere();
            throw new TimeoutException(_writer.DescribeWait(timeout));
        }

        return BeginHeld(Thread.CurrentThread.IsThreadPoolThread ? 0 : Environment.CurrentManagedThreadId);
    }

    /// <summary>As <see cref="Begin"/>, but without a limit and without blocking a thread.</summary>
    public async ValueTask<WriteTransactionBody> BeginAsync(CancellationToken cancellationToken)
    {
        await _flushServices.ThrottleWriterAsync(cancellationToken).ConfigureAwait(false);
        var durations = _engine.Observers.Durations;
        var began = durations.Begin(TimedWork.WriterWait);
        await EnterAsync(cancellationToken).ConfigureAwait(false);
        durations.End(TimedWork.WriterWait, began);
        return BeginHeld(thread: 0);
    }

    /// <summary>Takes the writer without beginning a transaction, and without blocking a thread. The caller releases the writer.</summary>
    /// <inheritdoc cref="Begin"/>
    public async ValueTask EnterAsync(CancellationToken cancellationToken)
    {
        var either = Either(cancellationToken);
        try
        {
            await _writer.EnterAsync(either?.Token ?? _engine.Closing.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            throw Cancelled(cancellationToken);
        }
        finally
        {
            Dispose(either);
        }
    }

    /// <summary>
    /// Takes the writer without blocking a thread, runs work that changes no page, and releases the writer. The section maps are read as of the
    /// submitted state.
    /// </summary>
    /// <inheritdoc cref="Begin"/>
    /// <exception cref="EnvironmentPoisonedException">An earlier write failed.</exception>
    public async ValueTask<T> UseAsync<T>(Func<CopyOnWritePages, T> work, CancellationToken cancellationToken)
    {
        await EnterAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            return Use(work);
        }
        finally
        {
            _writer.Release();
        }
    }

    private T Use<T>(Func<CopyOnWritePages, T> work)
    {
        _engine.Users.AddCall();
        try
        {
            ThrowIfUnusable();
            if (_writer.HasDeferred)
                _writer.RunDeferred();
            _writer.NoteOrigin(openedAt: null);
            var pages = _writer.WritePages;
            pages.Begin(_writer.Submitted);
            try
            {
                return work(pages);
            }
            finally
            {
                pages.Rollback();
            }
        }
        finally
        {
            _engine.Users.RemoveCall();
        }
    }

    private bool Wait(TimeSpan timeout, CancellationToken cancellationToken)
    {
        var either = Either(cancellationToken);
        try
        {
            return _writer.TryEnter(
                timeout.TotalMilliseconds < int.MaxValue ? timeout : Timeout.InfiniteTimeSpan, either?.Token ?? _engine.Closing.Token);
        }
        catch (OperationCanceledException)
        {
            throw Cancelled(cancellationToken);
        }
        finally
        {
            Dispose(either);
        }
    }

    // Disposal waits for a callback that is already running, and the caller may already have the writer: an interruption comes afterwards.
    private static void Dispose(CancellationTokenSource? either)
    {
        if (either != null)
            Uninterrupted.Run(DisposeSource, either);
    }

    private CancellationTokenSource? Either(CancellationToken cancellationToken) => cancellationToken.CanBeCanceled
        ? CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _engine.Closing.Token)
        : null;

    private Exception Cancelled(CancellationToken cancellationToken) => cancellationToken.IsCancellationRequested
        ? new OperationCanceledException(cancellationToken)
        : EndedErrors.Environment(_engine.Disk.Path, " It was closed while this call waited for the writer.");

    // The log entry is for a transaction that its thread still holds: a caller that waits for its own would otherwise wait silently.
    private void ReportHolder()
    {
        var id = _writer.TransactionId;
        Interlocked.Increment(ref _engine.Counters.LongWriterWaits);
        var tags = new ActivityTagsCollection { ["voron.transaction"] = id, ["voron.path"] = _engine.Disk.Path };
        Activity.Current?.AddEvent(new ActivityEvent("voron.writer.long_wait", tags: tags));
        LookForLeak(id);
        if (Interlocked.Exchange(ref _reportedFor, id) == id)
            return;
        var origin = _writer.Origin;
        TransactionLog.WriterHeldForLong(
            _engine.Logger, _engine.Disk.Path, id, Environment.TickCount64 - origin.BeganTick, origin.ThreadId,
            TransactionLog.Describe(origin.OpenedAt));
    }

    // Only the garbage collector notices a transaction that no caller can end any more, and a waiting caller allocates nothing. The collection
    // runs in the background, and once for each transaction that has kept others waiting for long, or was taken for the caller's own.
    private void LookForLeak(long id)
    {
        if (Interlocked.Exchange(ref _collectedFor, id) != id)
            GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: false);
    }

    /// <summary>Refuses the holder of the writer when the environment accepts no more changes.</summary>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    /// <exception cref="EnvironmentPoisonedException">An earlier write failed.</exception>
    public void ThrowIfUnusable()
    {
        _writer.AssertHeld();
        SchedulePoint.Reach(SchedulePlace.WriterTaken);
        if (_engine.Closing.IsCancellationRequested)
            throw EndedErrors.Environment(_engine.Disk.Path);
        _engine.Poison.ThrowIfPoisoned();
    }

    private WriteTransactionBody BeginHeld(int thread)
    {
        try
        {
            ThrowIfUnusable();
            return _transactions.Begin(thread);
        }
        catch
        {
            _writer.Release();
            throw;
        }
    }
}
