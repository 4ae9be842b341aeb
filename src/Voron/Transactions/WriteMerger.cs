using System.Threading.Tasks.Sources;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>Runs the operations of many callers in few transactions: whatever waits when the writer is free goes together.</summary>
/// <remarks>
/// Greedy, with no timer: while one transaction is being written, the operations for the next one gather. Each runs in a
/// savepoint, so that one that throws is undone alone.
/// </remarks>
internal sealed class WriteMerger : IThreadPoolWorkItem
{
    private const int MaxOperations = 4096;

    [ThreadStatic]
    private static WriteMerger? Running;

    private readonly Lock _lock = new();
    private readonly Queue<MergedOperation> _queue = new();
    private readonly List<MergedOperation> _batch = [];
    private readonly Func<WriteCore> _begin;
    private readonly long _maxBytes;
    private readonly Action<int> _merged;
    private bool _scheduled;

    /// <param name="begin">Takes the writer and begins a transaction.</param>
    /// <param name="merged">Told how many operations a transaction had.</param>
    public WriteMerger(Func<WriteCore> begin, long maxBytes, Action<int> merged)
    {
        _begin = begin;
        _maxBytes = maxBytes;
        _merged = merged;
    }

    /// <summary>Throws when the calling thread is inside an operation of this environment: it would wait for itself.</summary>
    public void ThrowIfInside(string call)
    {
        if (Running == this)
        {
            throw new InvalidOperationException(
                $"{call} was called inside an operation given to WriteAsync: it would wait for the writer that it holds. Use the operation's own transaction.");
        }
    }

    public ValueTask Enqueue(Action<WriteTransaction> operation, CancellationToken cancellationToken)
    {
        ThrowIfInside(nameof(StorageEnvironment.WriteAsync));
        var queued = MergedOperation.Rent(operation);
        var task = queued.Begin(cancellationToken);
        bool schedule;
        lock (_lock)
        {
            _queue.Enqueue(queued);
            schedule = !_scheduled;
            _scheduled = true;
        }

        if (schedule)
            SchedulePoint.Queue(this);
        return task;
    }

    void IThreadPoolWorkItem.Execute()
    {
        while (true)
        {
            lock (_lock)
            {
                if (_queue.Count == 0)
                {
                    _scheduled = false;
                    return;
                }
            }

            RunBatch();
        }
    }

    private void RunBatch()
    {
        _batch.Clear();
        WriteCore? core = null;
        var generation = 0L;
        try
        {
            core = _begin();
            generation = core.Generation;
            RunOperations(core);
            var journal = core.Journal;
            var sequence = core.Submit(null);
            if (sequence != 0)
                journal.WaitUntilDurable(sequence);
            _merged(_batch.Count);
        }
        catch (Exception e)
        {
            if (core != null && core.Generation == generation)
                core.Rollback();
            FailBatch(e);
            return;
        }

        foreach (var operation in _batch)
            operation.Succeed();
    }

    private void RunOperations(WriteCore core)
    {
        Running = this;
        try
        {
            do
            {
                MergedOperation? operation;
                lock (_lock)
                {
                    if (!_queue.TryDequeue(out operation))
                        break;
                }

                if (operation.TryStart())
                    RunOne(core, operation);
            }
            while (_batch.Count < MaxOperations && core.Session.ChangedBytes < _maxBytes);
        }
        finally
        {
            Running = null;
        }
    }

    private void RunOne(WriteCore core, MergedOperation operation)
    {
        long savepoint;
        try
        {
            savepoint = core.CreateSavepoint();
        }
        catch (Exception e)
        {
            operation.Fail(e);
            throw;
        }

        try
        {
            operation.Run(core.BeginOperation());
            core.ThrowIfBroken();
            core.ReleaseSavepoint(savepoint);
            _batch.Add(operation);
        }
        catch (Exception e)
        {
            try
            {
                core.RollbackToSavepoint(savepoint);
                core.ReleaseSavepoint(savepoint);
            }
            finally
            {
                operation.Fail(e);
            }
        }
        finally
        {
            core.EndOperation();
        }
    }

    // Begin, submit or write failed: nothing of the batch is known to be there, and nobody else's operation ran in it.
    private void FailBatch(Exception cause)
    {
        if (_batch.Count == 0)
        {
            lock (_lock)
            {
                while (_queue.TryDequeue(out var operation))
                    _batch.Add(operation);
            }
        }

        foreach (var operation in _batch)
            operation.Fail(cause);
        _batch.Clear();
    }
}

/// <summary>An operation that waits to be merged, and the task of its caller. Pooled.</summary>
internal sealed class MergedOperation : IValueTaskSource
{
    private const int PoolSize = 1024;
    private const int Queued = 0;
    private const int Started = 1;
    private const int Finished = 2;

    private static readonly Lock PoolLock = new();
    private static readonly Stack<MergedOperation> Pool = new(PoolSize);

    private ManualResetValueTaskSourceCore<bool> _core = new() { RunContinuationsAsynchronously = true };
    private Action<WriteTransaction>? _operation;
    private CancellationTokenRegistration _registration;
    private CancellationToken _cancellationToken;
    private int _state;
    private bool _reusable;

    public static MergedOperation Rent(Action<WriteTransaction> operation)
    {
        MergedOperation? rented;
        lock (PoolLock)
            Pool.TryPop(out rented);
        rented ??= new MergedOperation();
        rented._operation = operation;
        return rented;
    }

    /// <summary>The caller's task. Cancelling takes an operation back that has not been started; else it only ends the wait.</summary>
    public ValueTask Begin(CancellationToken cancellationToken)
    {
        Volatile.Write(ref _state, Queued);
        _reusable = !cancellationToken.CanBeCanceled;
        var task = new ValueTask(this, _core.Version);
        if (cancellationToken.CanBeCanceled)
        {
            _cancellationToken = cancellationToken;
            _registration = cancellationToken.UnsafeRegister(static state => ((MergedOperation)state!).Cancel(), this);
        }

        return task;
    }

    public bool TryStart() => Interlocked.CompareExchange(ref _state, Started, Queued) == Queued;

    public void Run(WriteTransaction transaction) => _operation!(transaction);

    public void Succeed()
    {
        if (Interlocked.Exchange(ref _state, Finished) != Finished)
        {
            _registration.Dispose();
            _core.SetResult(true);
        }
    }

    public void Fail(Exception cause)
    {
        if (Interlocked.Exchange(ref _state, Finished) != Finished)
        {
            _registration.Dispose();
            _core.SetException(cause);
        }
    }

    void IValueTaskSource.GetResult(short token)
    {
        // Asked too early, or once too often, it throws and stays where it is: in the merger's hands, or in the pool.
        if (_core.GetStatus(token) == ValueTaskSourceStatus.Pending)
            throw new InvalidOperationException("The operation has not completed. Await the task, or turn it into a Task before blocking on it.");
        try
        {
            _core.GetResult(token);
        }
        finally
        {
            // One that was cancelled may still be in the merger's hands.
            if (_reusable)
            {
                _core.Reset();
                _operation = null;
                lock (PoolLock)
                {
                    if (Pool.Count < PoolSize)
                        Pool.Push(this);
                }
            }
        }
    }

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);

    private void Cancel()
    {
        if (Interlocked.Exchange(ref _state, Finished) != Finished)
            _core.SetException(new OperationCanceledException(_cancellationToken));
    }
}
