using System.ComponentModel;

namespace Voron;

/// <content>Operations that share a transaction with those of other callers (group commit).</content>
public sealed partial class StorageEnvironment
{
    /// <summary>
    /// Runs an operation in a write transaction that it shares with operations of other callers. The task completes when the operation's
    /// changes, and everything that it has read, are durable. Operations run one at a time, in the order of the calls.
    /// </summary>
    /// <remarks>
    /// <para>If an operation throws, only its own changes are undone, and its caller gets the exception when everything that the operation has
    /// read is durable. An operation that runs out of room or memory beside others is undone, and is run again alone before its caller gets
    /// the failure. So an operation may run more than once, and should change nothing but the transaction.</para>
    /// <para>An operation runs on a thread of the engine or of another, waiting caller, with the execution context of its own caller. It must
    /// use its transaction, and the trees it opens, only until it returns. Read transactions begun inside it see the durable state; any call
    /// that needs the writer is refused.</para>
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
        ThrowIfNotWritable(nameof(WriteAsync));
        return cancellationToken.IsCancellationRequested
            ? ValueTask.FromCanceled(cancellationToken)
            : _groupCommit!.Enqueue(operation, cancellationToken);
    }

    /// <summary>Refuses asynchronous operations, which return before they have finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete("A group-commit operation runs synchronously: its transaction ends when it returns. For asynchronous work, use BeginWriteAsync and CommitAsync.", error: true)]
    public ValueTask WriteAsync(Func<WriteTransaction, Task> operation, CancellationToken cancellationToken = default) =>
        throw AsynchronousOperation();

    /// <summary>
    /// Runs an operation as <see cref="WriteAsync(Action{WriteTransaction}, CancellationToken)"/> does, but blocks until the write is durable.
    /// The operation shares a transaction with those of other callers, and no thread-pool thread is needed.
    /// </summary>
    /// <remarks>
    /// The calling thread may run operations of other callers meanwhile. The remarks on operations of <c>WriteAsync</c> apply here too.
    /// </remarks>
    /// <param name="operation">Must not commit, nor wait for another write.</param>
    /// <exception cref="InvalidOperationException">The call was made inside an operation, and would wait for itself.</exception>
    public void Write(Action<WriteTransaction> operation)
    {
        ArgumentNullException.ThrowIfNull(operation);
        ThrowIfNotWritable(nameof(Write));
        _groupCommit!.Run(operation);
    }

    /// <summary>Runs an operation that has a result, as <see cref="Write(Action{WriteTransaction})"/> does.</summary>
    /// <returns>The result; if the operation was run more than once, the result of its last run.</returns>
    /// <exception cref="ArgumentException">The result is a task, so the operation could return before it has finished.</exception>
    /// <inheritdoc cref="Write(Action{WriteTransaction})"/>
    public T Write<T>(Func<WriteTransaction, T> operation)
    {
        ArgumentNullException.ThrowIfNull(operation);
        if (OperationResult<T>.IsTask)
            throw AsynchronousOperation();
        var result = default(T);
        Write(writing => { result = operation(writing); });
        return result!;
    }

    /// <inheritdoc cref="WriteAsync(Func{WriteTransaction, Task}, CancellationToken)"/>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete("A group-commit operation runs synchronously: its transaction ends when it returns. For asynchronous work, use BeginWriteAsync and CommitAsync.", error: true)]
    public void Write(Func<WriteTransaction, Task> operation) => throw AsynchronousOperation();

    private static ArgumentException AsynchronousOperation() => new(
        "The operation returns a task, so it would use its transaction after it has returned. Use BeginWriteAsync and CommitAsync instead.", "operation");

    private static class OperationResult<T>
    {
        public static readonly bool IsTask = typeof(Task).IsAssignableFrom(typeof(T)) || typeof(T) == typeof(ValueTask)
            || (typeof(T).IsGenericType && typeof(T).GetGenericTypeDefinition() == typeof(ValueTask<>));
    }
}
