using System.Diagnostics;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>An operation that waits for a group commit, and its caller's wait. Pooled.</summary>
/// <remarks>
/// <code>
///   queued ──TryStart──▶ started ──Answer──▶ finished
///     │  ▲                  │ │
///     │  └────PutBack───────┘ │ Cancel: only the wait ends
///     └───────Cancel──────────┴──────────▶ finished
/// </code>
/// </remarks>
internal sealed class GroupCommitOperation : PooledCompletion
{
    private const int PoolSize = 1024;
    private const int Queued = 0;
    private const int Started = 1;
    private const int Finished = 2;

    private static readonly Lock PoolLock = new();
    private static readonly Stack<GroupCommitOperation> Pool = new(PoolSize);

    private Action<GroupCommitOperation>? _withdraw;
    private Action<Delegate, WriteTransactionBody>? _call;
    private Delegate? _operation;
    private ExecutionContext? _context;
    private WriteTransactionBody? _body;
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

    // The group commit may still hold an operation that can be cancelled.
    protected override bool IsReusable => !_cancellationToken.CanBeCanceled;

    /// <param name="operation">The caller's operation.</param>
    /// <param name="call">Calls it with the transaction that it shares.</param>
    /// <param name="withdraw">Takes it out of the queue when its caller cancels it.</param>
    public static GroupCommitOperation Rent(
        Delegate operation, Action<Delegate, WriteTransactionBody> call, Action<GroupCommitOperation> withdraw)
    {
        GroupCommitOperation? rented;
        using (Uninterrupted.Hold(PoolLock))
            Pool.TryPop(out rented);
        Debug.Assert(rented == null || rented._state == Finished, "An operation of the pool must have finished.");
        rented ??= new GroupCommitOperation();
        rented._withdraw = withdraw;
        rented._call = call;
        rented._operation = operation;
        rented._context = ExecutionContext.Capture();
        Volatile.Write(ref rented._state, Queued);
        return rented;
    }

    /// <summary>Returns the caller's task. Cancelling withdraws an operation that has not been started; otherwise it only ends the wait.</summary>
    public ValueTask Begin(CancellationToken cancellationToken)
    {
        var task = Task;
        if (cancellationToken.CanBeCanceled)
        {
            _cancellationToken = cancellationToken;
            _registration = cancellationToken.UnsafeRegister(static state => ((GroupCommitOperation)state!).Cancel(), this);
        }

        return task;
    }

    /// <summary>Notes that the caller is going to block in <see cref="WaitUntilFinishedOrLeading"/>.</summary>
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

    /// <summary>Resets an operation whose changes were undone, as if it had not been started. False when it was cancelled meanwhile.</summary>
    public bool TryUndoStart() => Interlocked.CompareExchange(ref _state, Queued, Started) == Started;

    /// <summary>True the first time that an interruption of the thread that ran the operation has broken it off.</summary>
    public bool MayBeRunAgain()
    {
        var isFirst = !_wasInterrupted;
        _wasInterrupted = true;
        return isFirst;
    }

    /// <summary>Runs the operation in the execution context of its caller, on the thread that runs the batch.</summary>
    public void Run(WriteTransactionBody body)
    {
        Debug.Assert(Volatile.Read(ref _state) != Queued, "An operation must be started before it is run.");
        if (_context == null)
        {
            _call!(_operation!, body);
            return;
        }

        _body = body;
        try
        {
            ExecutionContext.Run(_context, static state => ((GroupCommitOperation)state!).RunInContext(), this);
        }
        finally
        {
            _body = null;
        }
    }

    /// <summary>Answers the caller, unless it has cancelled the wait.</summary>
    public void Answer(Exception? failure)
    {
        if (Interlocked.Exchange(ref _state, Finished) == Finished)
            return;
        _registration.Dispose();
        Complete(failure);
    }

    protected override void Return()
    {
        Debug.Assert(_state == Finished && !IsInQueue, "An operation must have finished, and left the queue, before it is used again.");
        _operation = null;
        _context = null;
        _withdraw = null;
        _call = null;
        _leads = false;
        _wasInterrupted = false;
        IsBlocking = false;
        using (Uninterrupted.Hold(PoolLock))
        {
            if (Pool.Count < PoolSize)
                Pool.Push(this);
        }
    }

    private void RunInContext() => _call!(_operation!, _body!);

    private void Cancel()
    {
        if (Interlocked.Exchange(ref _state, Finished) == Finished)
            return;

        // A cancelled operation must not stay in memory because others still wait.
        _withdraw!(this);
        _operation = null;
        _context = null;
        Complete(new OperationCanceledException(_cancellationToken));
    }
}
