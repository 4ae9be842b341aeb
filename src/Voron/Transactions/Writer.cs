using System.Collections.Concurrent;
using System.Diagnostics;

namespace Voron.Transactions;

/// <summary>
/// The slot of the single writer: its lock, the state that passes from one transaction to the next, and the parked body of these
/// transactions. Members other than those of the lock are for the caller that holds it.
/// </summary>
/// <remarks>
/// While a transaction is open, only its own handles lead to the body; neither this object nor the environment does. A transaction that was
/// never ended therefore becomes garbage, and the body's finalizer notices it. The finalizer only schedules <see cref="EndAbandoned"/>, which
/// runs on the thread pool after a while. No other thread can race with the rollback there: its caller would have to hold a handle, and then
/// the body would not have been garbage. Two cases remain that no reference shows. One is a user's own finalizer that holds a handle;
/// <see cref="WriteTransactionBody.TryClaim"/> keeps it from ending the transaction a second time. The other is a span, perhaps reserved for
/// writing, that is in use on some stack when the last handle is gone. Because of it, frames are not reused at once: see
/// <see cref="StorageOptions.LeakGrace"/>.
/// </remarks>
internal sealed class Writer
{
    private readonly Engine _context;
    private readonly WriterLock _lock = new();
    private readonly ConcurrentQueue<Action> _errands = new();
    private WriteTransactionBody? _parked;

    public Writer(Engine context, VersionReclaimer versionReclaimer)
    {
        _context = context;
        context.Writer = this;
        versionReclaimer.AssertHeld = () => AssertHeld();
        VersionReclaimer = versionReclaimer;
        WritePages = new CopyOnWritePages(context);
        versionReclaimer.Space = WritePages.Space;
        _parked = new WriteTransactionBody(context, this);
    }

    /// <inheritdoc cref="WriterLock.WaitsForLong"/>
    public Action? WaitsForLong
    {
        set => _lock.WaitsForLong = value;
    }

    /// <inheritdoc cref="WriterLock.HasQueue"/>
    public bool HasQueue => _lock.HasQueue;

    public VersionReclaimer VersionReclaimer { get; }

    public CopyOnWritePages WritePages { get; }

    /// <summary>The state on which the next transaction begins.</summary>
    public Format.EnvironmentState Submitted { get; set; }

    /// <summary>The sequence of the journal record that made <see cref="Submitted"/>; 0 while that is the state found on opening.</summary>
    public long SubmittedSequence { get; set; }

    /// <summary>The id of the open transaction, or of the last one; for messages.</summary>
    public long TransactionId => WritePages.Id;

    /// <summary>The place, the time and the thread that began the open transaction, or the last one.</summary>
    /// <remarks>Read without holding the writer, for messages: its parts may come from two transactions.</remarks>
    public WriterOrigin Origin => new(Volatile.Read(ref _openedAt), Volatile.Read(ref _beganTick), Volatile.Read(ref _beganBy));

    private StackTrace? _openedAt;
    private long _beganTick;
    private int _beganBy;

    /// <summary>Returns the message for a caller that has waited for the writer in vain.</summary>
    public string DescribeWait(TimeSpan waited)
    {
        var origin = Origin;
        var message =
            $"Write transaction {TransactionId} has been open for {Environment.TickCount64 - origin.BeganTick} ms, and was not ended within " +
            $"{waited.TotalMilliseconds} ms. A write transaction has to be committed or disposed.";
        return origin.OpenedAt == null ? message : $"{message} It was begun by thread {origin.ThreadId} at: {origin.OpenedAt}";
    }

    /// <summary>
    /// Runs an errand as the holder of the writer, without waiting for the writer: at once when it is free, otherwise before the next transaction
    /// begins. Errands that have not run when the environment is closed never run.
    /// </summary>
    public void RunWhenFree(Action errand)
    {
        _errands.Enqueue(errand);
        if (!TryEnter(TimeSpan.Zero, CancellationToken.None))
            return;
        try
        {
            RunErrands();
        }
        finally
        {
            Release();
        }
    }

    /// <summary>Runs the queued errands. The caller holds the writer.</summary>
    public void RunErrands()
    {
        while (_errands.TryDequeue(out var errand))
        {
            try
            {
                errand();
            }
            catch (OutOfMemoryException)
            {
                // The next holder tries again.
                _errands.Enqueue(errand);
                return;
            }
        }
    }

    /// <inheritdoc cref="WriterLock.TryEnter"/>
    public bool TryEnter(TimeSpan timeout, CancellationToken cancellationToken) => _lock.TryEnter(timeout, cancellationToken);

    /// <inheritdoc cref="WriterLock.EnterAsync"/>
    public Task EnterAsync(CancellationToken cancellationToken) => _lock.EnterAsync(cancellationToken);

    /// <inheritdoc cref="WriterLock.Release"/>
    public void Release() => _lock.Release();

    /// <inheritdoc cref="WriterLock.AssertHeld"/>
    [Conditional("DEBUG")]
    public void AssertHeld() => _lock.AssertHeld();

    /// <summary>Starts a transaction. The writer is held.</summary>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public WriteTransactionBody Begin()
    {
        _context.AssertWriterHeld();
        if (!_errands.IsEmpty)
            RunErrands();
        _context.Users.AddWriter();
        try
        {
            return BeginCounted();
        }
        catch
        {
            _context.Users.RemoveWriter();
            throw;
        }
    }

    private WriteTransactionBody BeginCounted()
    {
        var body = _parked ?? throw new UnreachableException("The writer was free, and the body of its transactions is in use.");
        var openedAt = _context.Options.CaptureTransactionStacks ? new StackTrace(3, fNeedFileInfo: false) : null;
        body.Begin(openedAt);
        Volatile.Write(ref _openedAt, openedAt);
        Volatile.Write(ref _beganTick, Environment.TickCount64);
        Volatile.Write(ref _beganBy, Environment.CurrentManagedThreadId);
        _parked = null;
        return body;
    }

    /// <summary>Takes the body back when its transaction has ended; the writer is still held.</summary>
    public void Park(WriteTransactionBody body)
    {
        _context.AssertWriterHeld();
        _parked = body;
    }

    /// <summary>Called by a finalizer: the body's transaction is open, and no caller can end it any more.</summary>
    public void Abandoned(WriteTransactionBody body)
    {
        try
        {
            _ = Task.Delay(_context.Options.LeakGrace).ContinueWith(
                static (_, state) => ((WriteTransactionBody)state!).EndAbandoned(), body,
                CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
        }
        catch (Exception e) when (e is OutOfMemoryException or ObjectDisposedException)
        {
            // An exception from a finalizer would end the process. The writer stays taken, and waiting callers find out by their timeouts.
        }
    }

    /// <summary>Names the transaction in the log and rolls it back.</summary>
    public void EndAbandoned(WriteTransactionBody body, StackTrace? openedAt)
    {
        Interlocked.Increment(ref _context.Counters.LeakedWriters);
        TransactionLog.WriterLeaked(_context.Logger, TransactionId, TransactionLog.Describe(openedAt));
        try
        {
            body.RollbackClaimed();
        }
        catch (Exception e)
        {
            _context.Poison.Set(e);
        }
    }
}

/// <summary>The origin of a write transaction.</summary>
/// <param name="OpenedAt">The place where it was begun; null when transactions are not tracked.</param>
/// <param name="BeganTick">The value of <see cref="Environment.TickCount64"/> when it was begun.</param>
/// <param name="ThreadId">The managed thread that began it.</param>
internal readonly record struct WriterOrigin(StackTrace? OpenedAt, long BeganTick, int ThreadId);
