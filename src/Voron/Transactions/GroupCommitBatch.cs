using System.Diagnostics;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>
/// Runs operations from the head of the queue in one transaction. Used by the thread that led the <see cref="GroupCommit"/> when the batch began.
/// </summary>
/// <remarks>
/// Each operation can be undone alone if it throws: see <see cref="GroupOperationSavepoint"/>. The puts of several operations may wait and be applied
/// together. If that fails, the batch cannot tell which of them failed: it is undone, and its operations run again, each with a savepoint from the
/// start. A batch ends when it has run enough operations, changed enough bytes, or lasted long enough. All its callers are answered when it is
/// durable, including those whose operations failed: an operation that throws because of the data it saw has seen its neighbours' changes. It is
/// lazy if all of them are.
///
/// An operation may run out of disk space or memory, or exceed the limit for a transaction's changes, because of its neighbours. Such an
/// operation is undone, ends the batch, and runs again as the first one of the next batch. When a whole batch cannot be submitted for one
/// of these reasons, its operations run again in batches of half the size. A caller therefore sees such a failure only when its operation
/// encountered it alone.
///
/// If a thread is interrupted while it runs other callers' operations, or submits a batch, the interruption is passed on when the thread's
/// own call has ended. An operation that was broken off by the interruption is undone and run again, once.
/// </remarks>
internal sealed class GroupCommitBatch
{
    private const int MaxOperations = 4096;

    /// <summary>The maximum number of times in a row that a batch is run again because its thread was interrupted.</summary>
    private const int MaxInterrupted = 100;

    private readonly GroupCommitQueue _queue;
    private readonly EngineCore _engine;
    private readonly long _maxBytes;
    private readonly TimeSpan _maxDuration;
    private readonly Action<int> _committed;
    private readonly Action<Exception> _failedLate;
    private readonly Action _submitted;
    private readonly List<(GroupCommitOperation Operation, Exception? Failure)> _run = [];
    private int _most = MaxOperations;
    private int _apart;
    private bool _isApart;
    private bool _failedTogether;
    private int _succeeded;
    private Durability _durability;
    private int _threadId;
    private int _interrupted;
    private GroupCommitOperation? _own;

    // A caller that leads keeps the lead until its own operation has run.
    private bool _hasRunOwn;
    private OperationContext _context;

    /// <param name="submitted">Called when a batch has been submitted, before its thread waits for the journal.</param>
    public GroupCommitBatch(
        GroupCommitQueue queue, EngineCore engine, Action<int> committed, Action<Exception> failedLate, Action<GroupCommitBatch> submitted)
    {
        _submitted = () => submitted(this);
        _failedLate = failedLate;
        _context = new OperationContext(failedLate);
        _queue = queue;
        _engine = engine;
        _maxBytes = engine.Options.MaxGroupCommitBytes;
        _maxDuration = engine.Options.MaxGroupCommitDuration;
        _committed = committed;
    }

    /// <summary>True on the thread that is currently inside an operation.</summary>
    public bool IsRunningHere => Volatile.Read(ref _threadId) == Environment.CurrentManagedThreadId;

    /// <summary>True while the batch waits for the journal and its thread no longer leads. Guarded by the lock of the queue.</summary>
    public bool HasPassedLead { get; set; }

    /// <summary>Runs a batch and answers its callers. Throws nothing.</summary>
    /// <param name="begin">Takes the writer and begins a transaction.</param>
    /// <param name="own">The calling thread's own operation, for which an interruption of the thread is meant; null when it has none.</param>
    /// <returns>Whether the thread was interrupted meanwhile.</returns>
    public bool Run(Func<WriteTransactionBody> begin, GroupCommitOperation? own)
    {
        Debug.Assert(_run.Count == 0 && _own == null, "One thread at a time must run a batch.");
        var isInterrupted = false;
        _hasRunOwn = false;
        _own = own;
        WriteTransactionBody body;
        try
        {
            body = Begin(begin, ref isInterrupted);
        }
        catch (Exception e)
        {
            FailToBegin(e);
            _own = null;
            return isInterrupted;
        }

        try
        {
            RunAndWrite(body, ref isInterrupted);
        }
        catch (Exception e)
        {
            Answer(e);
        }

        _run.Clear();
        _own = null;
        return isInterrupted;
    }

    private static WriteTransactionBody Begin(Func<WriteTransactionBody> begin, ref bool isInterrupted)
    {
        while (true)
        {
            try
            {
                return begin();
            }
            catch (ThreadInterruptedException)
            {
                isInterrupted = true;
            }
        }
    }

    private void RunAndWrite(WriteTransactionBody body, ref bool isInterrupted)
    {
        var generation = body.Generation;
        var progress = default(CommitProgress);
        var began = 0L;
        Exception? failure = null;
        try
        {
            RunOperations(body, ref isInterrupted);
            if (_failedTogether)
            {
                body.Rollback();
                RunApart();
                return;
            }

            body.Durability = _durability;
            began = EngineActivities.IsListening ? Stopwatch.GetTimestamp() : 0;
            body.Commit(notifiesObservers: false, ref progress, _own == null || _hasRunOwn ? _submitted : null);
            _committed(_succeeded);
        }
        catch (Exception e)
        {
            failure = e;
            if (body.Generation == generation)
                body.Rollback();
        }

        // The interruption was meant for none of the operations. After too many in a row, the batch fails with it.
        var isForThread = failure is ThreadInterruptedException && !progress.IsSubmitted && _interrupted++ < MaxInterrupted;
        isInterrupted |= isForThread;
        if (failure == null)
            _interrupted = 0;
        if (!isForThread && (failure == null || progress.IsSubmitted || _run.Count <= 1 || !FailedForLackOfRoom(failure)))
        {
            if (began != 0 && progress.Report.TransactionId != 0)
                TraceCommit(began, progress.Report, failure);
            Answer(failure);
            _most = Math.Min(_most * 2, MaxOperations);
            return;
        }

        if (!isForThread)
            _most = Math.Max(_run.Count / 2, 1);
        PutAllBack();
    }

    private void PutAllBack()
    {
        for (var i = _run.Count - 1; i >= 0; i--)
            _queue.PutBack(_run[i].Operation);
    }

    // Applies to as many operations as there are now: others that join their batch then have savepoints too.
    private void RunApart()
    {
        Debug.Assert(!_isApart, "An operation that has its own savepoint must fail alone.");
        _apart = _run.Count;
        PutAllBack();
    }

    // Failed operations have no part in the commit.
    private void TraceCommit(long began, CommitReport report, Exception? failure)
    {
        var time = WorkTime.Since(began);
        var trace = new SharedCommitTrace(report);
        var parent = default(ActivityContext);
        var operations = 0;
        foreach (var (operation, own) in _run)
        {
            if (own == null)
                parent = operation.NoteCommit(trace, isOnly: operations++ == 0);
        }

        trace.Post(_engine, time, operations, failure, parent);
    }

    private void RunOperations(WriteTransactionBody body, ref bool isInterrupted)
    {
        var clock = _engine.Options.CommitClock;
        var start = clock.GetTimestamp();
        _succeeded = 0;
        _failedTogether = false;
        _isApart = _apart > 0;
        _durability = Durability.Lazy;
        long largeBytes = 0;
        var largeExtents = 0;
        while (_run.Count < _most && _queue.Dequeue() is { } operation)
        {
            _apart = Math.Max(0, _apart - 1);
            if (!RunOne(body, operation, ref isInterrupted))
                break;
            var extents = body.WritePages.DirectExtents;
            for (; largeExtents < extents.Count; largeExtents++)
                largeBytes += extents[largeExtents].Value.Length;
            largeExtents = extents.Count;
            if (IsFull(body, largeBytes) || clock.GetElapsedTime(start) >= _maxDuration)
                break;
        }

        if (!_failedTogether)
            TryApply(body);
    }

    private bool IsFull(WriteTransactionBody body, long largeBytes)
    {
        var bytes = body.WritePages.ChangedBytes + largeBytes;
        if (bytes + (long)body.Context.Buffers.Count * _engine.PageSize < _maxBytes || PlantedFault.GroupCommitWithoutEnd)
            return false;

        // At worst, each waiting put changes a separate page.
        return !TryApply(body) || body.WritePages.ChangedBytes + largeBytes >= _maxBytes;
    }

    private bool TryApply(WriteTransactionBody body)
    {
        try
        {
            body.Context.Buffers.Apply();
            return true;
        }
        catch (Exception)
        {
            return !(_failedTogether = true);
        }
    }

    /// <returns>False when the batch has to end here.</returns>
    private bool RunOne(WriteTransactionBody body, GroupCommitOperation operation, ref bool isInterrupted)
    {
        var hasNeighbours = body.WritePages.HasChanges || body.Context.Buffers.Count > 0;
        var own = body.Context.OperationSavepoint;
        own.Begin();
        try
        {
            if (_isApart)
                own.Ensure();
        }
        catch (Exception e)
        {
            own.End();
            GiveUp(operation, e, hasNeighbours);
            return false;
        }

        long savepoint = 0;
        Exception failure;
        try
        {
            try
            {
                RunInside(body, operation);
            }
            finally
            {
                savepoint = own.End();
            }

            body.Context.ThrowIfBroken();
            if (savepoint != 0)
                body.ReleaseSavepoint(savepoint);
            AddToRun(operation, null);
            _succeeded++;
            return true;
        }
        catch (Exception e)
        {
            failure = e;
        }

        var isForThread = operation != _own && IsInterruption(failure) && operation.MayBeRunAgain();
        isInterrupted |= isForThread;
        var isNeighboursFault = isForThread || (hasNeighbours && (FailedForLackOfRoom(failure) || FailedForLackOfRoom(body.Context.BrokenBy)));
        if (savepoint == 0)
        {
            isInterrupted |= IsInterruption(body.Context.BrokenBy);
            return UndoMarked(body, operation, failure, isNeighboursFault);
        }

        try
        {
            body.RollbackToSavepoint(savepoint);
            body.ReleaseSavepoint(savepoint);
        }
        finally
        {
            GiveUp(operation, failure, isNeighboursFault);
        }

        return !isNeighboursFault;
    }

    // The operation has only put, and its puts wait. If the transaction is broken nevertheless, other operations' puts could not be applied.
    private bool UndoMarked(WriteTransactionBody body, GroupCommitOperation operation, Exception failure, bool isNeighboursFault)
    {
        if (body.Context.IsBroken)
        {
            _failedTogether = true;
            AddToRun(operation, failure);
            return false;
        }

        body.Context.Buffers.DiscardUnmarked();
        GiveUp(operation, failure, isNeighboursFault);
        return !isNeighboursFault;
    }

    private void RunInside(WriteTransactionBody body, GroupCommitOperation operation)
    {
        Debug.Assert(Volatile.Read(ref _threadId) == 0, "One operation at a time must run.");
        Volatile.Write(ref _threadId, Environment.CurrentManagedThreadId);
        var context = _context;
        var surrounding = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(context);
        try
        {
            body.Operations.Begin();
            body.Context.Recorder.BeginEpoch();
            body.Durability = _engine.Options.Durability;
            operation.Run(body);
        }
        finally
        {
            // A failed operation counts too: its caller receives the failure once everything that it read is as durable as it requested.
            if (body.Durability == Durability.Durable)
                _durability = Durability.Durable;

            // Handles that have escaped, perhaps to asynchronous work on another thread, end before anything else happens in the transaction.
            body.Operations.End();
            SynchronizationContext.SetSynchronizationContext(surrounding);
            Volatile.Write(ref _threadId, 0);
            if (context.IsUsed)
            {
                context.Close();
                _context = new OperationContext(_failedLate);
            }
        }

        if (context.IsUsed)
            context.ThrowIfUnfinished();
        body.Operations.ThrowIfDisposed();
    }

    private void GiveUp(GroupCommitOperation operation, Exception failure, bool isNeighboursFault)
    {
        if (isNeighboursFault && !PlantedFault.FailWithNeighbours)
            _queue.PutBack(operation);
        else
            AddToRun(operation, failure);
    }

    private void AddToRun(GroupCommitOperation operation, Exception? failure)
    {
        _run.Add((operation, failure));
        _hasRunOwn |= operation == _own;
    }

    // Also true if the operation has wrapped the failure in its own exception.
    private static bool FailedForLackOfRoom(Exception? failure)
    {
        for (; failure != null; failure = failure.InnerException)
        {
            if (failure is StorageFullException or OutOfMemoryException)
                return true;
        }

        return false;
    }

    private static bool IsInterruption(Exception? failure)
    {
        for (; failure != null; failure = failure.InnerException)
        {
            if (failure is ThreadInterruptedException)
                return true;
        }

        return false;
    }

    // A failure of the whole batch also replaces the failures of single operations: the changes that they saw may be gone.
    private void Answer(Exception? failure)
    {
        foreach (var (operation, own) in _run)
            operation.Answer(failure ?? own);
    }

    // The writer could not be taken, or the transaction could not begin. If memory was short, the next operation may succeed.
    private void FailToBegin(Exception failure)
    {
        do
        {
            if (_queue.Dequeue() is not { } operation)
                return;
            operation.Answer(failure);
        }
        while (failure is EnvironmentPoisonedException or ObjectDisposedException);
    }
}
