using System.Threading.Tasks.Sources;
using Voron.Testing;

namespace Voron.Primitives;

/// <summary>The source of the task of a write. Pooled: it returns to its pool when its result has been taken.</summary>
/// <remarks>
/// The thread that completes it is committing, and never runs foreign code here. The continuation of an <c>await</c> goes to the pool.
/// Two kinds go to the <see cref="CompletionRelay"/> instead: one that its caller's context has to schedule, because the context may do
/// anything; and that of <see cref="ValueTask.AsTask"/>, because a caller may block on the task while no pool thread is free.
/// </remarks>
internal abstract class PooledCompletion : RelayedCompletion, IValueTaskSource
{
    // Protects the outcome and the way in which it is passed on. No other lock of the engine is taken while it is held.
    private readonly object _gate = new();

    private ManualResetValueTaskSourceCore<bool> _core = new() { RunContinuationsAsynchronously = true };
    private Action<object?>? _asTask;
    private object? _asTaskState;
    private Exception? _failure;
    private bool _usesContext;
    private bool _isDone;

    public ValueTask Task => new(this, _core.Version);

    /// <summary>The object that a blocking caller waits on.</summary>
    protected object Gate => _gate;

    /// <summary>True once the outcome is known. Exact for the holder of <see cref="Gate"/>.</summary>
    protected bool IsDone => _isDone;

    /// <summary>True when only the caller's task still refers to the object once the result has been taken.</summary>
    protected abstract bool IsReusable { get; }

    /// <summary>Returns the object to its pool.</summary>
    protected abstract void Return();

    /// <summary>Ends the wait, with or without a failure. The object may be in use again as soon as this returns.</summary>
    protected void Complete(Exception? failure)
    {
        bool isRelayed;
        using (Uninterrupted.Hold(_gate))
        {
            _isDone = true;
            _failure = failure;
            isRelayed = _usesContext || _asTask != null;
            if (!_usesContext)
                SetOutcome();
            SchedulePoint.PulseAll(_gate);
        }

        if (isRelayed)
            CompletionRelay.Shared.Add(this);
    }

    /// <inheritdoc/>
    public override void RunRelayed()
    {
        if (_asTask is { } continuation)
        {
            var state = _asTaskState;
            _asTask = null;
            _asTaskState = null;
            continuation(state);
            return;
        }

        SetOutcome();
    }

    /// <summary>Throws the failure that ended the wait, if there was one, and returns the object to its pool.</summary>
    public void TakeResult() => ((IValueTaskSource)this).GetResult(_core.Version);

    void IValueTaskSource.GetResult(short token)
    {
        // A call that comes too early, or once too often, throws and leaves the object where it is: in use by the engine, or in the pool.
        if (_core.GetStatus(token) == ValueTaskSourceStatus.Pending)
        {
            throw new InvalidOperationException(
                $"The write has not completed. Await its task. A caller that has to block calls {nameof(StorageEnvironment)}.{nameof(StorageEnvironment.Write)} " +
                $"or {nameof(WriteTransaction)}.{nameof(WriteTransaction.Commit)}, which wait without a task.");
        }

        try
        {
            _core.GetResult(token);
        }
        finally
        {
            if (IsReusable)
            {
                _core.Reset();
                _failure = null;
                _usesContext = false;
                _isDone = false;
                Return();
            }
        }
    }

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags)
    {
        if (ReferenceEquals(continuation, AsTaskProbe.Continuation))
        {
            CompleteTask(continuation, state, token);
            return;
        }

        if ((flags & ValueTaskSourceOnCompletedFlags.UseSchedulingContext) != 0 && HasContext)
        {
            using (Uninterrupted.Hold(_gate))
                _usesContext |= !_isDone;
        }

        _core.OnCompleted(continuation, state, token, flags);
    }

    private static bool HasContext =>
        (SynchronizationContext.Current is { } context && context.GetType() != typeof(SynchronizationContext))
        || TaskScheduler.Current != TaskScheduler.Default;

    private void CompleteTask(Action<object?> continuation, object? state, short token)
    {
        if (_core.GetStatus(token) == ValueTaskSourceStatus.Pending)
        {
            using (Uninterrupted.Hold(_gate))
            {
                if (!_isDone)
                {
                    _asTask = continuation;
                    _asTaskState = state;
                    return;
                }
            }
        }

        // Only this caller has the task so far, so completing it here runs nothing else.
        continuation(state);
    }

    private void SetOutcome()
    {
        try
        {
            if (_failure == null)
                _core.SetResult(true);
            else
                _core.SetException(_failure);
        }
        catch (Exception)
        {
            // The context of the awaiting caller, perhaps a closed window, has refused the continuation. The outcome is set nevertheless.
        }
    }

    /// <summary>
    /// Finds the continuation that a value task passes to its source when it is converted to a task, because a caller may block on that task.
    /// </summary>
    private sealed class AsTaskProbe : IValueTaskSource
    {
        private Action<object?>? _continuation;

        public static Action<object?>? Continuation { get; } = Find();

        public void GetResult(short token)
        {
        }

        public ValueTaskSourceStatus GetStatus(short token) => ValueTaskSourceStatus.Pending;

        public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
            _continuation = continuation;

        private static Action<object?>? Find()
        {
            var probe = new AsTaskProbe();
            _ = new ValueTask(probe, 0).AsTask();
            return probe._continuation;
        }
    }
}
