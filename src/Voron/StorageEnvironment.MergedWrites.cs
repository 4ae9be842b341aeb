using System.ComponentModel;

namespace Voron;

/// <content>Operations that are merged with those of other callers.</content>
public sealed partial class StorageEnvironment
{
    /// <summary>
    /// Runs an operation in a write transaction that it shares with those of other callers; the task completes when its
    /// changes, and all that it has read, are durable. Operations run one at a time, in the order of the calls.
    /// </summary>
    /// <remarks>
    /// <para>An operation that throws is undone alone, and its caller gets the exception when what it has read is durable. An operation that
    /// runs out of room or memory beside others is undone and run again alone before its caller is told, so an operation may run more than
    /// once: let it change nothing but the transaction.</para>
    /// <para>An operation runs on a thread of the engine or of another caller that waits, with the execution context of its own caller. It
    /// uses its transaction, and the trees it opens, only until it returns. Reading the environment inside it shows what is durable; any call
    /// that needs the writer is refused.</para>
    /// <para>As many operations may wait as <see cref="StorageOptions.MaxQueuedOperations"/> says. Each costs one small object until it is
    /// answered, and a cancelled one nothing. To block a thread until the write is durable, call
    /// <see cref="Write(Action{WriteTransaction})"/>.</para>
    /// </remarks>
    /// <param name="operation">Must not commit, nor wait for another write.</param>
    /// <param name="cancellationToken">Takes the operation back if it has not started; otherwise only ends the wait.</param>
    /// <exception cref="InvalidOperationException">Called inside an operation: it would wait for itself.</exception>
    /// <exception cref="StorageFullException">Thrown by the call itself: too many operations wait. This one is not among them.</exception>
    public ValueTask WriteAsync(Action<WriteTransaction> operation, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(operation);
        ThrowIfNotWritable(nameof(WriteAsync));
        return cancellationToken.IsCancellationRequested
            ? ValueTask.FromCanceled(cancellationToken)
            : _groupCommit!.Enqueue(operation, cancellationToken);
    }

    /// <summary>Refuses operations that do not run to their end before they return.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete("A merged operation runs synchronously: its transaction ends when it returns. For an asynchronous one, use BeginWriteAsync and CommitAsync.", error: true)]
    public ValueTask WriteAsync(Func<WriteTransaction, Task> operation, CancellationToken cancellationToken = default) =>
        throw AsynchronousOperation();

    /// <summary>
    /// As <see cref="WriteAsync(Action{WriteTransaction}, CancellationToken)"/>, for a caller that blocks until the write is durable: its
    /// operation is merged with those of others, and no thread of the pool is needed.
    /// </summary>
    /// <remarks>The calling thread may run operations of others meanwhile. What is said of operations there holds here.</remarks>
    /// <param name="operation">Must not commit, nor wait for another write.</param>
    /// <exception cref="InvalidOperationException">Called inside an operation: it would wait for itself.</exception>
    public void Write(Action<WriteTransaction> operation)
    {
        ArgumentNullException.ThrowIfNull(operation);
        ThrowIfNotWritable(nameof(Write));
        _groupCommit!.Run(operation);
    }

    /// <summary>As <see cref="Write(Action{WriteTransaction})"/>, for an operation that has a result.</summary>
    /// <returns>The result; that of its last run, when the operation was run more than once.</returns>
    /// <exception cref="ArgumentException">The result would be a task: the operation would not have run to its end.</exception>
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
    [Obsolete("A merged operation runs synchronously: its transaction ends when it returns. For an asynchronous one, use BeginWriteAsync and CommitAsync.", error: true)]
    public void Write(Func<WriteTransaction, Task> operation) => throw AsynchronousOperation();

    private static ArgumentException AsynchronousOperation() => new(
        "The operation returns a task: it would use its transaction after it has returned. Use BeginWriteAsync and CommitAsync for it.", "operation");

    private static class OperationResult<T>
    {
        public static readonly bool IsTask = typeof(Task).IsAssignableFrom(typeof(T)) || typeof(T) == typeof(ValueTask)
            || (typeof(T).IsGenericType && typeof(T).GetGenericTypeDefinition() == typeof(ValueTask<>));
    }
}
