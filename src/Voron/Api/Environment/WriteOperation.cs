using System.Threading.Tasks.Sources;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron;

/// <summary>
/// An operation of a group commit: a state, a delegate that is called with the transaction and the state, and a result. An operation without a state
/// uses its caller's delegate as the state, and one without a result has an empty result.
/// </summary>
internal sealed class WriteOperation<TState, TResult> : GroupCommitOperation, IValueTaskSource<TResult>
{
    private const int PoolSize = 1024;

    private static readonly Lock PoolLock = new();
    private static readonly Stack<WriteOperation<TState, TResult>> Pool = new();

    private Func<WriteTransaction, TState, TResult>? _operation;
    private TState? _state;
    private TResult? _result;

    private WriteOperation()
    {
    }

    /// <summary>The task with the result.</summary>
    public ValueTask<TResult> TaskOfResult => new(this, Version);

    public static WriteOperation<TState, TResult> Rent(TState state, Func<WriteTransaction, TState, TResult> operation)
    {
        WriteOperation<TState, TResult>? rented;
        using (Uninterrupted.Hold(PoolLock))
            Pool.TryPop(out rented);
        rented ??= new WriteOperation<TState, TResult>();
        rented._operation = operation;
        rented._state = state;
        return rented;
    }

    /// <summary>Runs the operation, and blocks until it is durable.</summary>
    /// <returns>The result of the operation's last run.</returns>
    public TResult Run(GroupCommit groupCommit)
    {
        var isInterrupted = groupCommit.Run(this);
        try
        {
            return TakeResult(Version);
        }
        finally
        {
            // Not earlier: other callers may have depended on this thread.
            Uninterrupted.PassOn(isInterrupted);
        }
    }

    TResult IValueTaskSource<TResult>.GetResult(short token) => TakeResult(token);

    void IValueTaskSource<TResult>.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        OnCompleted(continuation, state, token, flags, AsTaskProbe<TResult>.Continuation);

    protected override void Call(WriteTransactionBody body)
    {
        var result = _operation!(new WriteTransaction(body), _state!);

        // The static type of the result may hide the task from the compiler.
        if (!typeof(TResult).IsValueType && result is Task)
            throw AsynchronousOperation.Error();
        _result = result;
    }

    protected override void Clear()
    {
        _operation = null;
        _state = default;
        _result = default;
    }

    protected override void ReturnToPool()
    {
        using (Uninterrupted.Hold(PoolLock))
        {
            if (Pool.Count < PoolSize)
                Pool.Push(this);
        }
    }

    // The object may be in use again once its result has been taken.
    private TResult TakeResult(short token)
    {
        var result = _result;
        GetResult(token);
        return result!;
    }
}
