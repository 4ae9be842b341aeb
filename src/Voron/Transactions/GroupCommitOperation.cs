using System.Diagnostics;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>An operation that waits for a group commit, and its caller's wait. Pooled by the class that knows the operation's type.</summary>
/// <remarks>
/// <code>
///   queued ──TryStart──▶ started ──Answer──▶ finished
///     │  ▲                  │ │
///     │  └────PutBack───────┘ │ Cancel: only the wait ends
///     └───────Cancel──────────┴──────────▶ finished
/// </code>
/// </remarks>
internal abstract class GroupCommitOperation : PooledCompletion
{
    private const int Queued = 0;
    private const int Started = 1;
    private const int Finished = 2;

    private static readonly ContextCallback RunInContext = static state => ((GroupCommitOperation)state!).Call();

    private Action<GroupCommitOperation>? _withdraw;
    private ExecutionContext? _context;
    private WriteTransactionBody? _body;
    private OperationTrace? _trace;
    private CancellationTokenRegistration _registration;
    private CancellationToken _cancellationToken;
    private int _state;
    private bool _leads;
    private bool _wasInterrupted;

    /// <summary>The neighbours in the group commit's queue. Used by the holder of its lock.</summary>
    public GroupCommitOperation? Ahead { get; set; }

    public GroupCommitOperation? Behind { get; set; }

    public bool IsInQueue { get; set; }

    /// <summary>True when a thread blocks until the operation has finished; that thread can run batches as well.</summary>
    public bool IsBlocking { get; private set; }

    /// <summary>True once the caller has been answered.</summary>
    public bool IsFinished => Volatile.Read(ref _state) == Finished;

    /// <summary>The activity of the operation, if a listener wants it. Set before the operation is queued.</summary>
    public OperationTrace? Trace
    {
        set => _trace = value;
    }

    // The group commit may still hold an operation that can be cancelled.
    protected override bool IsReusable => !_cancellationToken.CanBeCanceled;

    /// <summary>Makes the operation wait to be started. Called once after it was taken from its pool, or created.</summary>
    /// <param name="withdraw">Takes it out of the queue when its caller cancels it.</param>
    /// <param name="flowsContext">
    /// True to run it in the execution context of the calling thread, unless the flow is suppressed there; false for the default context.
    /// </param>
    public void Prepare(Action<GroupCommitOperation> withdraw, bool flowsContext)
    {
        Debug.Assert(_context == null && !IsInQueue, "An operation must have finished before it is used again.");
        _context = (flowsContext ? ExecutionContext.Capture() : null) ?? DefaultContext.Value;
        _withdraw = withdraw;
        Volatile.Write(ref _state, Queued);
    }

    /// <summary>Enables cancellation. It withdraws an operation that has not been started; otherwise it only ends the wait.</summary>
    public void Begin(CancellationToken cancellationToken)
    {
        if (!cancellationToken.CanBeCanceled)
            return;
        _cancellationToken = cancellationToken;
        _registration = cancellationToken.UnsafeRegister(static state => ((GroupCommitOperation)state!).Cancel(), this);
    }

    /// <summary>Notes that the caller will block in <see cref="WaitUntilFinishedOrLeading"/>.</summary>
    public void BeginBlocking() => IsBlocking = true;

    /// <summary>Blocks until the operation has finished, or until its caller has become the leader, which runs batches.</summary>
    /// <returns>Whether the caller has to run batches.</returns>
    public bool WaitUntilFinishedOrLeading(ref bool isInterrupted)
    {
        using (Uninterrupted.Hold(Gate))
        {
            while (!IsDone && !_leads)
            {
                try
                {
                    SchedulePoint.Wait(Gate);
                }
                catch (ThreadInterruptedException)
                {
                    isInterrupted = true;
                }
            }

            return _leads;
        }
    }

    /// <summary>Makes the blocked caller the leader, which runs batches.</summary>
    public void Lead()
    {
        using (Uninterrupted.Hold(Gate))
        {
            Debug.Assert(IsBlocking && !_leads, "Only a caller that blocks, and does not lead yet, can be made the leader.");
            _leads = true;
            SchedulePoint.PulseAll(Gate);
        }
    }

    public bool TryStart() => Interlocked.CompareExchange(ref _state, Started, Queued) == Queued;

    /// <summary>Marks an operation whose changes were undone as not started. False if it was cancelled in the meantime.</summary>
    public bool TryUndoStart() => Interlocked.CompareExchange(ref _state, Queued, Started) == Started;

    /// <summary>True the first time that an interruption of the thread that ran the operation aborted it.</summary>
    public bool MayBeRunAgain()
    {
        var isFirst = !_wasInterrupted;
        _wasInterrupted = true;
        return isFirst;
    }

    /// <summary>
    /// Runs the operation in the execution context of its caller, on the thread that runs the batch, whose own context it can neither see nor
    /// change.
    /// </summary>
    public void Run(WriteTransactionBody body)
    {
        Debug.Assert(Volatile.Read(ref _state) != Queued, "An operation must be started before it is run.");
        _body = body;
        try
        {
            ExecutionContext.Run(_context!, RunInContext, this);
        }
        finally
        {
            _body = null;
        }
    }

    /// <summary>Notes the commit that contains the operation's changes. Called before the operation is answered.</summary>
    /// <param name="commit">The commit.</param>
    /// <param name="isOnly">True if the commit contains no other operation so far.</param>
    /// <returns>The activity that the commit belongs to as long as this operation is the only one; the default value for none.</returns>
    public ActivityContext NoteCommit(SharedCommitTrace commit, bool isOnly)
    {
        if (Volatile.Read(ref _trace) is not { } trace)
            return default;
        trace.Commit = commit;
        return isOnly ? trace.Context : default;
    }

    /// <summary>Answers the caller, unless it has cancelled the wait.</summary>
    public void Answer(Exception? failure)
    {
        if (Interlocked.Exchange(ref _state, Finished) == Finished)
            return;
        _registration.Dispose();
        EndTrace(failure);
        Complete(failure);
    }

    /// <summary>Calls the caller's operation with the transaction that it shares.</summary>
    protected abstract void Call(WriteTransactionBody body);

    /// <summary>Drops the caller's objects, which the pool must not keep in memory.</summary>
    protected abstract void Clear();

    /// <summary>Returns the object to the pool of its class.</summary>
    protected abstract void ReturnToPool();

    protected sealed override void Return()
    {
        Debug.Assert(_state == Finished && !IsInQueue, "An operation must have finished, and left the queue, before it is used again.");
        Clear();
        _context = null;
        _withdraw = null;
        _trace = null;
        _leads = false;
        _wasInterrupted = false;
        IsBlocking = false;
        ReturnToPool();
    }

    private void Call() => Call(_body!);

    private void Cancel()
    {
        var state = Interlocked.Exchange(ref _state, Finished);
        if (state == Finished)
            return;

        // A cancelled operation must not stay in memory because others still wait. One that has been started is in use.
        if (state == Queued)
        {
            _withdraw!(this);
            Clear();
            _context = null;
        }

        var failure = new OperationCanceledException(_cancellationToken);
        EndTrace(failure);
        Complete(failure);
    }

    private void EndTrace(Exception? failure)
    {
        if (_trace != null)
            Interlocked.Exchange(ref _trace, null)?.End(failure);
    }
}
