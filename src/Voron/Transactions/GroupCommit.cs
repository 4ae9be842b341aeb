using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>Runs the operations of many callers in few transactions: all operations waiting when the writer becomes free share one.</summary>
/// <remarks>
/// Greedy, with no timer: while one transaction is being written, the operations for the next one gather. One thread at a time, the
/// leader, runs batches:
/// <code>
///   idle ────a blocking caller comes──▶ that caller, until its own operation is answered ──▶ the caller at the head of the queue if it
///     ▲ │                                        ▲                                           blocks; else offered
///     │ └────an asynchronous caller comes──▶ offered ──▶ a thread of the pool, or the group commit's thread, until the queue is empty
///     └──────the queue is empty──────────────────────────────────────────────────────────────────┘
/// </code>
/// Where the journal may have two writes under way, the leader passes the lead on when it has submitted its batch. It answers that batch when it is
/// durable, and then takes the lead only to hand it over. Two batches at most wait without the lead: until one of them is answered, no thread leads.
/// <para>
/// A pool thread usually takes the offer: it then runs the continuations of the callers that it has answered, and no thread has to be woken. When
/// all pool threads are busy or blocked, the group commit's own thread takes an offer that has been open for 10 ms. For a while, the next offers
/// are made to that thread alone. The lock of the queue also guards the leadership; nothing else is called under it.
/// </para>
/// </remarks>
internal sealed class GroupCommit : IThreadPoolWorkItem, IDisposable
{
    /// <summary>The number of offers made only to the group commit's own thread after the pool has failed to take one.</summary>
    private const int OffersWithoutPool = 64;

    /// <summary>How long closing waits for a running operation, which is user code and may never return.</summary>
    private static readonly TimeSpan OperationPatience = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan CheckInterval = TimeSpan.FromMilliseconds(10);

    /// <summary>The time without an offer after which the watch ends.</summary>
    private static readonly TimeSpan IdleTime = TimeSpan.FromSeconds(1);

    private readonly GroupCommitQueue _queue = new();
    private readonly Func<WriteTransactionBody> _begin;
    private readonly Action<GroupCommitOperation> _withdraw;
    private readonly GroupCommitBatch[] _batches;
    private readonly Func<bool> _overlaps;
    private readonly EngineCore _engine;
    private readonly int _mostQueued;
    private readonly bool _flowsContext;
    private readonly AutoResetEvent _work = new(false);
    private readonly TimeSpan _threadIdleTime;
    private Thread? _thread;
    private bool _isLed;

    // The number of batches that wait for the journal without the lead.
    private int _passedCount;

    // The batch that runs next, unless it waits for the journal.
    private int _next;
    private bool _isOffered;
    private bool _isForThread;
    private bool _isWatched;
    private bool _isStopped;
    private long _offers;
    private int _offersToThread;

    /// <param name="begin">Takes the writer and begins a transaction.</param>
    /// <param name="engine">The environment, whose options limit the batches and the queue.</param>
    /// <param name="committed">Called with the number of operations that a transaction contained.</param>
    /// <param name="failedLate">Called with the exception when asynchronous work started by an operation fails after the operation's end.</param>
    /// <param name="overlaps">Returns true if the journal may write the records of two batches at the same time.</param>
    public GroupCommit(
        Func<WriteTransactionBody> begin, EngineCore engine, Action<int> committed, Action<Exception> failedLate, Func<bool> overlaps)
    {
        _begin = begin;
        _withdraw = _queue.Remove;
        _engine = engine;
        _mostQueued = engine.Options.MaxQueuedOperations;
        _threadIdleTime = engine.Options.ThreadIdleTime;
        _flowsContext = engine.Options.FlowExecutionContext;
        _batches = [CreateBatch(), CreateBatch()];
        _overlaps = overlaps;

        GroupCommitBatch CreateBatch() => new(_queue, engine, committed, failedLate, PassOn);
    }

    /// <summary>True while there is a group commit thread.</summary>
    public bool HasThread => Volatile.Read(ref _thread) != null;

    /// <summary>The number of operations that wait to be started.</summary>
    public int QueuedCount => _queue.Count;

    /// <summary>Throws when the calling thread is inside an operation of this environment, because it would wait for itself.</summary>
    public void ThrowIfInside(string call)
    {
        if (_batches[0].IsRunningHere || _batches[1].IsRunningHere)
        {
            throw new InvalidOperationException(
                $"{call} was called inside a group-commit operation (see {nameof(StorageEnvironment.WriteAsync)}), which holds the writer that the call " +
                "would wait for. Use the operation's own transaction.");
        }
    }

    /// <summary>Refuses another operation that would wait in the queue without a thread.</summary>
    /// <exception cref="StorageFullException">The maximum number of operations is already waiting.</exception>
    public void ThrowIfFull()
    {
        if (_queue.BoundedCount >= _mostQueued)
            ThrowFull();
    }

    /// <summary>Queues an operation, whose task completes when it is durable.</summary>
    public void Enqueue(GroupCommitOperation operation, CancellationToken cancellationToken)
    {
        Prepare(operation);
        operation.Begin(cancellationToken);
        if (Append(operation))
            Offer();
    }

    /// <summary>Runs an operation, and returns when it is durable. The calling thread runs the batch when no other thread does.</summary>
    /// <returns>Whether the thread was interrupted meanwhile. It is interrupted again when the caller has taken the result.</returns>
    public bool Run(GroupCommitOperation operation)
    {
        Prepare(operation);
        operation.BeginBlocking();
        var isInterrupted = false;
        if (Append(operation) || operation.WaitUntilFinishedOrLeading(ref isInterrupted))
            LeadUntilFinished(operation, ref isInterrupted);
        return isInterrupted;
    }

    /// <summary>Fails the queued operations and ends the thread. The environment is closed: no more batches can begin.</summary>
    public void Dispose()
    {
        using (_queue.Hold())
            _isStopped = true;
        _work.Set();
        if (_thread is { } thread && thread != Thread.CurrentThread)
            Uninterrupted.Run(() => thread.Join(OperationPatience));

        // The event is not disposed: a caller that leads may still hand over.
    }

    void IThreadPoolWorkItem.Execute()
    {
        using (_queue.Hold())
        {
            if (!_isOffered)
                return;
            AssertLed();
            _isOffered = false;
        }

        LeadAll();
    }

    // An operation runs in the activity that its caller has started for it.
    private void Prepare(GroupCommitOperation operation)
    {
        var trace = EngineActivities.IsListening ? OperationTrace.Start(_engine) : null;
        operation.Trace = trace;
        operation.Prepare(_withdraw, _flowsContext);
        trace?.Leave();
    }

    // Thrown by the call, not through its task: a caller that does not await its writes might not look at their tasks either.
    [DoesNotReturn]
    private void ThrowFull() => throw new StorageFullException(
        $"{_mostQueued} operations wait to be written, which is the maximum ({nameof(StorageOptions.MaxQueuedOperations)}). This operation was " +
        $"not committed. Await some of the others first, or call {nameof(StorageEnvironment.Write)}, which waits.");

    /// <returns>Whether the caller leads from here on.</returns>
    private bool Append(GroupCommitOperation operation)
    {
        using (_queue.Hold())
        {
            if (!_isStopped)
            {
                if (!operation.IsFinished)
                    _queue.Append(operation);
                if (_queue.Head == null || (_isLed && !(_isOffered && operation.IsBlocking)) || _passedCount == _batches.Length)
                    return false;
                _isLed = true;
                _isOffered = false;
                return true;
            }
        }

        operation.Answer(EndedErrors.Environment(_engine.Disk.Path, " The operation was not run."));
        return false;
    }

    private void LeadUntilFinished(GroupCommitOperation own, ref bool isInterrupted)
    {
        // Other callers' operations must not run in this caller's synchronization context, such as that of a window.
        var context = SynchronizationContext.Current;
        if (context != null)
            SynchronizationContext.SetSynchronizationContext(null);
        var leads = true;
        try
        {
            while (!own.IsFinished)
                leads = RunBatch(own, ref isInterrupted);
        }
        finally
        {
            if (leads)
                HandOver();
            if (context != null)
                SynchronizationContext.SetSynchronizationContext(context);
        }
    }

    /// <returns>Whether the caller still leads.</returns>
    private bool RunBatch(GroupCommitOperation? own, ref bool isInterrupted)
    {
        GroupCommitBatch batch;
        using (_queue.Hold())
        {
            // A batch that has failed runs again itself, because it knows how.
            if (_batches[_next].HasPassedLead)
                _next ^= 1;
            batch = _batches[_next];
        }

        isInterrupted |= batch.Run(_begin, own);
        if (!batch.HasPassedLead)
            return true;
        using (_queue.Hold())
        {
            batch.HasPassedLead = false;
            _passedCount--;
            if (_isLed || _queue.Head == null)
                return false;
            _isLed = true;
        }

        // Not led by this thread: on the pool, the offer waits behind the continuations of the answered callers, whose next operations then share
        // a batch.
        HandOver();
        return false;
    }

    // The batch has been submitted. On a slow device, another thread runs the next one while this one is being written.
    private void PassOn(GroupCommitBatch batch)
    {
        if (!_overlaps())
            return;
        using (_queue.Hold())
        {
            batch.HasPassedLead = true;
            _passedCount++;
            _isLed = false;
            if (_queue.Head == null || _passedCount == _batches.Length)
                return;
            _isLed = true;
        }

        HandOver();
    }

    private void HandOver()
    {
        using (_queue.Hold())
        {
            AssertLed();
            Debug.Assert(!_isOffered, "The lead must not be on offer while a caller has it.");
            if (_queue.Head == null)
            {
                _isLed = false;
                return;
            }

            if (!_isStopped && _queue.Head.IsBlocking)
            {
                _queue.Head.Lead();
                return;
            }
        }

        Offer();
    }

    private void LeadAll()
    {
        while (true)
        {
            using (_queue.Hold())
            {
                AssertLed();
                Debug.Assert(!_isOffered, "The lead must not be on offer while a thread has it.");
                if (_queue.Head == null)
                {
                    _isLed = false;
                    return;
                }
            }

            var isInterrupted = false;
            if (!RunBatch(own: null, ref isInterrupted))
                return;
        }
    }

    // Called by the leader, whose leadership ends with the call. Throws nothing.
    private void Offer()
    {
        bool isOffered, isForThread = false, wakes = false;
        using (_queue.Hold())
        {
            AssertLed();
            Debug.Assert(!_isOffered, "The lead must be offered only once.");
            isOffered = !_isStopped;
            if (isOffered)
            {
                isForThread = _offersToThread > 0;
                if (isForThread)
                    _offersToThread--;
                wakes = isForThread || !_isWatched;
                _isForThread = isForThread;
                _isOffered = true;
                _isWatched = true;
                _offers++;
            }
        }

        // The thread has ended and takes no more offers: the waiting operations fail here.
        if (!isOffered)
        {
            LeadAll();
            return;
        }

        // A schedule gives every work item its turn.
        if (wakes && SchedulePoint.Current == null)
            WakeThread();

        // Where the thread cannot be started, the pool has to suffice, and the other way round: the offer is open in any case.
        if (!isForThread || !HasThread)
            PoolWork.TryQueueToSchedule(this);
    }

    [Conditional("DEBUG")]
    private void AssertLed()
    {
        _queue.AssertHeld();
        Debug.Assert(_isLed, "Batches must have a leader, or an offer to lead, from the first operation on until the queue is empty.");
    }

    private void WakeThread()
    {
        using (_queue.Hold())
        {
            if (_thread == null && !_isStopped)
                _thread = StartThread();
        }

        _work.Set();
    }

    private Thread? StartThread()
    {
        _queue.AssertHeld();
        try
        {
            var thread = new Thread(RunThread) { IsBackground = true, Name = "Voron group commit" };
            thread.UnsafeStart();
            return thread;
        }
        catch (Exception e) when (e is OutOfMemoryException or ThreadStartException)
        {
            // The pool has to suffice; the next caller tries again.
            _isWatched = false;
            return null;
        }
    }

    private void RunThread()
    {
        var seen = -1L;
        var seenAt = 0L;
        while (true)
        {
            bool takes, sleeps;
            using (_queue.Hold())
            {
                if (_isStopped && !_isOffered)
                    return;
                var now = Environment.TickCount64;
                if (_offers != seen)
                    (seen, seenAt) = (_offers, now);
                var hasStood = now - seenAt >= CheckInterval.TotalMilliseconds;
                takes = _isOffered && (_isForThread || hasStood || _isStopped);
                if (takes)
                {
                    AssertLed();
                    if (!_isForThread)
                        _offersToThread = OffersWithoutPool;
                    _isOffered = false;
                }

                sleeps = !takes && now - seenAt >= IdleTime.TotalMilliseconds;
                if (sleeps)
                    _isWatched = false;
            }

            if (takes)
                LeadAll();
            else if (!WaitForWork(sleeps ? _threadIdleTime : CheckInterval) && sleeps && TryEndThread(seen))
                return;
        }
    }

    // An offer that this thread has not seen yet wakes it, or starts another thread if this one has ended.
    private bool TryEndThread(long seen)
    {
        using (_queue.Hold())
        {
            if (_isStopped || _isOffered || _offers != seen)
                return false;
            _offersToThread = 0;
            _thread = null;
            return true;
        }
    }

    // Returns false on timeout. A user's operation may have passed its thread to another one, which interrupts it after it has returned to the
    // engine. The interruption means nothing here, and would end the process.
    private bool WaitForWork(TimeSpan longest)
    {
        try
        {
            return _work.WaitOne(longest);
        }
        catch (ThreadInterruptedException)
        {
            // The caller checks for work and waits again.
            return true;
        }
    }
}
