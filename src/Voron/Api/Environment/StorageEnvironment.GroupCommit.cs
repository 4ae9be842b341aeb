using Voron.Transactions;

namespace Voron;

/// <content>Operations that share a transaction with those of other callers (group commit).</content>
public sealed partial class StorageEnvironment
{
    /// <summary>
    /// Runs an operation in a write transaction that it shares with operations of other callers. The task completes when the operation's changes, and
    /// everything that it has read, are durable, or visible if all operations of its transaction are lazy
    /// (<see cref="WriteTransaction.Durability"/>). Operations run one at a time, in the order of the calls.
    /// </summary>
    /// <remarks>
    /// <para>
    /// If an operation throws, only its own changes are undone, and its caller gets the exception once everything that the operation has read is
    /// durable. An operation that runs out of space or memory while it shares a transaction is undone, and runs again alone before its caller gets
    /// the failure. An operation may therefore run more than once, and should change nothing but the transaction.
    /// </para>
    /// <para>An operation runs on an engine thread, or on the thread of another waiting caller. It sees the execution context of its own caller
    /// (<c>AsyncLocal</c>, the current activity, logging scopes) unless <see cref="StorageOptions.FlowExecutionContext"/> is false or the caller has
    /// suppressed the flow, and never that of another caller. Its changes to the context are discarded when it returns.</para>
    /// <para>
    /// An operation must use its transaction, and the trees it opens, only until it returns, and not from several threads concurrently. It must not
    /// be asynchronous: the compiler refuses one that returns a task, and an <c>async void</c> method fails and is undone. Read transactions begun
    /// inside it see the published state. Any call that needs the writer is refused there: <c>BeginWrite</c>, <c>Write</c>, <c>WriteAsync</c>,
    /// <c>Flush</c>, <c>Dispose</c> of the environment, and a commit of the operation's transaction. Disposing of the operation's transaction undoes
    /// the operation, and fails it unless it fails with an exception of its own.
    /// </para>
    /// <para>At most <see cref="StorageOptions.MaxQueuedOperations"/> operations may wait. Each costs one small object until its caller has the
    /// result; a cancelled one costs nothing. To block a thread until the write is durable, call
    /// <see cref="Write(Action{WriteTransaction})"/>.</para>
    /// </remarks>
    /// <param name="operation">Must not commit, nor wait for another write.</param>
    /// <param name="cancellationToken">Withdraws the operation if it has not started; otherwise only ends the wait.</param>
    /// <exception cref="InvalidOperationException">The call was made inside an operation, and would wait for itself.</exception>
    /// <exception cref="StorageFullException">
    /// Too many operations are waiting. Thrown by the call itself, not by its task; this operation was not queued.
    /// </exception>
    public ValueTask WriteAsync(Action<WriteTransaction> operation, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(operation);
        if (!CanQueue(cancellationToken))
            return ValueTask.FromCanceled(cancellationToken);
        return Queue(
            WriteOperation<Action<WriteTransaction>, NoResult>.Rent(
                operation,
                static (transaction, call) =>
                {
                    call(transaction);
                    return default;
                }),
            cancellationToken);
    }

    /// <summary>Runs an operation that returns a result, like <see cref="WriteAsync(Action{WriteTransaction}, CancellationToken)"/>.</summary>
    /// <returns>
    /// The result; if the operation was run more than once, the result of its last run. A tree, cursor or stream has ended by then, and a span
    /// cannot be a result.
    /// </returns>
    /// <exception cref="ArgumentException">The result is a task, so the operation could return before it has finished.</exception>
    /// <inheritdoc cref="WriteAsync(Action{WriteTransaction}, CancellationToken)"/>
    public ValueTask<T> WriteAsync<T>(Func<WriteTransaction, T> operation, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(operation);
        AsynchronousOperation.ThrowIfResultIsTask<T>();
        if (!CanQueue(cancellationToken))
            return ValueTask.FromCanceled<T>(cancellationToken);
        return Queue(
            WriteOperation<Func<WriteTransaction, T>, T>.Rent(operation, static (transaction, call) => call(transaction)), cancellationToken);
    }

    /// <summary>
    /// Runs an operation with a state, like <see cref="WriteAsync(Action{WriteTransaction}, CancellationToken)"/>. A static operation that gets
    /// everything through its state allocates no closure.
    /// </summary>
    /// <param name="state">Passed to the operation; a tuple for several values.</param>
    /// <inheritdoc cref="WriteAsync(Action{WriteTransaction}, CancellationToken)"/>
    public ValueTask WriteAsync<TState>(
        TState state, Action<WriteTransaction, TState> operation, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(operation);
        if (!CanQueue(cancellationToken))
            return ValueTask.FromCanceled(cancellationToken);
        return Queue(
            WriteOperation<(TState State, Action<WriteTransaction, TState> Call), NoResult>.Rent(
                (state, operation),
                static (transaction, both) =>
                {
                    both.Call(transaction, both.State);
                    return default;
                }),
            cancellationToken);
    }

    /// <summary>
    /// Runs an operation with a state and a result, like <see cref="WriteAsync{T}(Func{WriteTransaction, T}, CancellationToken)"/>. A static
    /// operation that gets everything through its state allocates no closure.
    /// </summary>
    /// <param name="state">Passed to the operation; a tuple for several values.</param>
    /// <inheritdoc cref="WriteAsync{T}(Func{WriteTransaction, T}, CancellationToken)"/>
    public ValueTask<TResult> WriteAsync<TState, TResult>(
        TState state, Func<WriteTransaction, TState, TResult> operation, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(operation);
        AsynchronousOperation.ThrowIfResultIsTask<TResult>();
        if (!CanQueue(cancellationToken))
            return ValueTask.FromCanceled<TResult>(cancellationToken);
        return Queue(WriteOperation<TState, TResult>.Rent(state, operation), cancellationToken);
    }

    /// <summary>
    /// Runs an operation like <see cref="WriteAsync(Action{WriteTransaction}, CancellationToken)"/>, but blocks until the write is durable. The
    /// operation shares a transaction with those of other callers, and needs no thread-pool thread.
    /// </summary>
    /// <remarks>
    /// Meanwhile, the calling thread may run operations of other callers. The remarks on <c>WriteAsync</c> operations also apply here. The wait for
    /// the writer has no limit. A pool thread that calls this while it holds a write transaction waits for itself, and the log names the holder
    /// (<c>WriterHeldForLong</c>); a dedicated thread gets an exception instead.
    /// </remarks>
    /// <param name="operation">Must not commit, nor wait for another write.</param>
    /// <exception cref="InvalidOperationException">
    /// The call was made inside an operation, or by the thread that has begun the open transaction, and would wait for itself.
    /// </exception>
    public void Write(Action<WriteTransaction> operation)
    {
        ArgumentNullException.ThrowIfNull(operation);
        var groupCommit = RequireGroupCommit();
        WriteOperation<Action<WriteTransaction>, NoResult>.Rent(
            operation,
            static (transaction, call) =>
            {
                call(transaction);
                return default;
            }).Run(groupCommit);
    }

    /// <summary>Runs an operation that returns a result, like <see cref="Write(Action{WriteTransaction})"/>.</summary>
    /// <returns>
    /// The result; if the operation was run more than once, the result of its last run. A tree, cursor or stream has ended by then, and a span
    /// cannot be a result.
    /// </returns>
    /// <exception cref="ArgumentException">The result is a task, so the operation could return before it has finished.</exception>
    /// <inheritdoc cref="Write(Action{WriteTransaction})"/>
    public T Write<T>(Func<WriteTransaction, T> operation)
    {
        ArgumentNullException.ThrowIfNull(operation);
        AsynchronousOperation.ThrowIfResultIsTask<T>();
        var groupCommit = RequireGroupCommit();
        return WriteOperation<Func<WriteTransaction, T>, T>.Rent(operation, static (transaction, call) => call(transaction)).Run(groupCommit);
    }

    /// <summary>
    /// Runs an operation with a state, like <see cref="Write(Action{WriteTransaction})"/>. A static operation that gets everything through its state
    /// allocates no closure.
    /// </summary>
    /// <param name="state">Passed to the operation; a tuple for several values.</param>
    /// <inheritdoc cref="Write(Action{WriteTransaction})"/>
    public void Write<TState>(TState state, Action<WriteTransaction, TState> operation)
    {
        ArgumentNullException.ThrowIfNull(operation);
        var groupCommit = RequireGroupCommit();
        WriteOperation<(TState State, Action<WriteTransaction, TState> Call), NoResult>.Rent(
            (state, operation),
            static (transaction, both) =>
            {
                both.Call(transaction, both.State);
                return default;
            }).Run(groupCommit);
    }

    /// <summary>
    /// Runs an operation with a state and a result, like <see cref="Write{T}(Func{WriteTransaction, T})"/>. A static operation that gets everything
    /// through its state allocates no closure.
    /// </summary>
    /// <param name="state">Passed to the operation; a tuple for several values.</param>
    /// <inheritdoc cref="Write{T}(Func{WriteTransaction, T})"/>
    public TResult Write<TState, TResult>(TState state, Func<WriteTransaction, TState, TResult> operation)
    {
        ArgumentNullException.ThrowIfNull(operation);
        AsynchronousOperation.ThrowIfResultIsTask<TResult>();
        var groupCommit = RequireGroupCommit();
        return WriteOperation<TState, TResult>.Rent(state, operation).Run(groupCommit);
    }

    // The caller may have to run the operation on its own thread, so it must not be the holder of the writer.
    private GroupCommit RequireGroupCommit()
    {
        var writing = RequireWritable(nameof(Write));
        writing.Entrance.ThrowIfOwn(nameof(Write));
        return writing.GroupCommit;
    }

    /// <returns>False when the call was cancelled before it began.</returns>
    private bool CanQueue(CancellationToken cancellationToken)
    {
        var writing = RequireWritable(nameof(WriteAsync));
        if (cancellationToken.IsCancellationRequested)
            return false;
        writing.GroupCommit.ThrowIfFull();
        return true;
    }

    // Each task is taken before the operation is queued: once the operation has completed, its object may already have another version.
    private ValueTask Queue<TState>(WriteOperation<TState, NoResult> operation, CancellationToken cancellationToken)
    {
        var task = operation.Task;
        _writing!.GroupCommit.Enqueue(operation, cancellationToken);
        return task;
    }

    private ValueTask<TResult> Queue<TState, TResult>(WriteOperation<TState, TResult> operation, CancellationToken cancellationToken)
    {
        var task = operation.TaskOfResult;
        _writing!.GroupCommit.Enqueue(operation, cancellationToken);
        return task;
    }

    /// <summary>The result of an operation that has none.</summary>
    private readonly struct NoResult;
}
