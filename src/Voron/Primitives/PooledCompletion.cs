using System.Diagnostics.CodeAnalysis;
using System.Threading.Tasks.Sources;
using Voron.Testing;

namespace Voron.Primitives;

/// <summary>The source of a write's task. Pooled: it returns to its pool when its result has been taken.</summary>
/// <remarks>
/// The thread that completes it is committing, and never runs foreign code here. The continuation of an <c>await</c> goes to the pool. Two kinds of
/// continuations go to the <see cref="CompletionRelay"/> instead: those that the caller's context must schedule, because the context may do anything,
/// and those of <see cref="ValueTask.AsTask"/>, because a caller may block on the task while no pool thread is free.
/// </remarks>
internal abstract class PooledCompletion : RelayedCompletion, IValueTaskSource
{
    // Protects the outcome and how it is passed on. No other lock of the engine is taken while it is held.
    private readonly object _gate = new();

    private ManualResetValueTaskSourceCore<bool> _core = new() { RunContinuationsAsynchronously = true };
    private Action<object?>? _asTask;
    private object? _asTaskState;
    private Exception? _failure;
    private bool _usesContext;
    private bool _isDone;

    // True once the task has a continuation. A second one would take the place of the first, or run when the object is in use again.
    private bool _isAwaited;

    public ValueTask Task => new(this, _core.Version);

    /// <summary>The version of the task, for a class that also has a task with a result.</summary>
    protected short Version => _core.Version;

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
    public void TakeResult() => GetResult(_core.Version);

    /// <summary>Throws the failure that ended the wait, if there was one, and returns the object to its pool.</summary>
    /// <param name="token">The version of the task.</param>
    public void GetResult(short token)
    {
        // A call that is too early, or one too many, throws and leaves the object where it is: in use by the engine, or in the pool.
        var isPending = _core.GetStatus(token) == ValueTaskSourceStatus.Pending;
        if (_asTask != null || (isPending && _isAwaited))
            ThrowAwaitedTwice();
        if (isPending)
        {
            throw new InvalidOperationException(
                $"The write has not completed. Await its task. To block, call {nameof(StorageEnvironment)}.{nameof(StorageEnvironment.Write)} " +
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
                _isAwaited = false;
                Return();
            }
        }
    }

    /// <summary>Returns whether the task has completed.</summary>
    public ValueTaskSourceStatus GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        OnCompleted(continuation, state, token, flags, AsTaskProbe.Continuation);

    /// <summary>Calls the continuation when the outcome is known.</summary>
    /// <param name="continuation">The continuation.</param>
    /// <param name="state">Its argument.</param>
    /// <param name="token">The version of the task.</param>
    /// <param name="flags">How the continuation is to be called.</param>
    /// <param name="asTask">The continuation that a value task passes when it is converted to a task.</param>
    protected void OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags, Action<object?>? asTask)
    {
        // A version of earlier use throws here.
        _core.GetStatus(token);
        var isTask = ReferenceEquals(continuation, asTask);
        var usesContext = !isTask && (flags & ValueTaskSourceOnCompletedFlags.UseSchedulingContext) != 0 && HasContext;
        bool isFirst;
        using (Uninterrupted.Hold(_gate))
        {
            isFirst = !_isAwaited;
            _isAwaited = true;
            _usesContext |= usesContext && isFirst && !_isDone;
        }

        if (!isFirst)
        {
            // The runtime ends the process when an exception leaves this method during an await. The continuation asks for the result, which throws.
            if (isTask)
                ThrowAwaitedTwice();
            continuation(state);
            return;
        }

        if (isTask)
        {
            CompleteTask(continuation, state, token);
            return;
        }

        _core.OnCompleted(continuation, state, token, flags);
    }

    [DoesNotReturn]
    private static void ThrowAwaitedTwice() => throw new InvalidOperationException(
        $"The task of a write was awaited, or converted by {nameof(ValueTask.AsTask)}, twice. It may be used once. The write is not affected. Convert the task once, and " +
        "await the result as often as necessary.");

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
}
