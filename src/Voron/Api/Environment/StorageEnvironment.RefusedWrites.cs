using System.ComponentModel;
using System.Runtime.CompilerServices;

namespace Voron;

/// <content>Overloads of <c>Write</c> and <c>WriteAsync</c> that make the compiler refuse asynchronous operations.</content>
/// <remarks>
/// Without them, an asynchronous lambda would be an operation whose result is a task. The overloads for a <see cref="Task"/> have priority over those
/// for a <see cref="ValueTask"/>, because such a lambda fits both. A lambda that does nothing but throw would fit them as well. It therefore gets an
/// overload of higher priority that no asynchronous lambda fits: an operation whose result is the transaction.
/// </remarks>
public sealed partial class StorageEnvironment
{
    /// <summary>Runs an operation that does nothing but throw.</summary>
    /// <inheritdoc cref="WriteAsync(Action{WriteTransaction}, CancellationToken)"/>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [OverloadResolutionPriority(2)]
    public ValueTask WriteAsync(Func<WriteTransaction, WriteTransaction> operation, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(operation);
        return WriteAsync(operation, static (transaction, call) => { call(transaction); }, cancellationToken);
    }

    /// <summary>Refuses an asynchronous operation, which returns before it has finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete(AsynchronousOperation.Message, error: true)]
    [OverloadResolutionPriority(1)]
    public ValueTask WriteAsync(Func<WriteTransaction, Task> operation, CancellationToken cancellationToken = default) =>
        throw AsynchronousOperation.Error();

    /// <summary>Refuses an asynchronous operation, which returns before it has finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete(AsynchronousOperation.Message, error: true)]
    [OverloadResolutionPriority(1)]
    public ValueTask<T> WriteAsync<T>(Func<WriteTransaction, Task<T>> operation, CancellationToken cancellationToken = default) =>
        throw AsynchronousOperation.Error();

    /// <summary>Refuses an asynchronous operation, which returns before it has finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete(AsynchronousOperation.Message, error: true)]
    public ValueTask WriteAsync(Func<WriteTransaction, ValueTask> operation, CancellationToken cancellationToken = default) =>
        throw AsynchronousOperation.Error();

    /// <summary>Refuses an asynchronous operation, which returns before it has finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete(AsynchronousOperation.Message, error: true)]
    public ValueTask<T> WriteAsync<T>(Func<WriteTransaction, ValueTask<T>> operation, CancellationToken cancellationToken = default) =>
        throw AsynchronousOperation.Error();

    /// <summary>Runs an operation that does nothing but throw.</summary>
    /// <inheritdoc cref="WriteAsync{TState}(TState, Action{WriteTransaction, TState}, CancellationToken)"/>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [OverloadResolutionPriority(2)]
    public ValueTask WriteAsync<TState>(
        TState state, Func<WriteTransaction, TState, WriteTransaction> operation, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(operation);
        return WriteAsync((state, operation), static (transaction, both) => { both.operation(transaction, both.state); }, cancellationToken);
    }

    /// <summary>Refuses an asynchronous operation, which returns before it has finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete(AsynchronousOperation.Message, error: true)]
    [OverloadResolutionPriority(1)]
    public ValueTask WriteAsync<TState>(
        TState state, Func<WriteTransaction, TState, Task> operation, CancellationToken cancellationToken = default) =>
        throw AsynchronousOperation.Error();

    /// <summary>Refuses an asynchronous operation, which returns before it has finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete(AsynchronousOperation.Message, error: true)]
    [OverloadResolutionPriority(1)]
    public ValueTask<T> WriteAsync<TState, T>(
        TState state, Func<WriteTransaction, TState, Task<T>> operation, CancellationToken cancellationToken = default) =>
        throw AsynchronousOperation.Error();

    /// <summary>Refuses an asynchronous operation, which returns before it has finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete(AsynchronousOperation.Message, error: true)]
    public ValueTask WriteAsync<TState>(
        TState state, Func<WriteTransaction, TState, ValueTask> operation, CancellationToken cancellationToken = default) =>
        throw AsynchronousOperation.Error();

    /// <summary>Refuses an asynchronous operation, which returns before it has finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete(AsynchronousOperation.Message, error: true)]
    public ValueTask<T> WriteAsync<TState, T>(
        TState state, Func<WriteTransaction, TState, ValueTask<T>> operation, CancellationToken cancellationToken = default) =>
        throw AsynchronousOperation.Error();

    /// <summary>Runs an operation that does nothing but throw.</summary>
    /// <inheritdoc cref="Write(Action{WriteTransaction})"/>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [OverloadResolutionPriority(2)]
    public void Write(Func<WriteTransaction, WriteTransaction> operation)
    {
        ArgumentNullException.ThrowIfNull(operation);
        Write(operation, static (transaction, call) => { call(transaction); });
    }

    /// <summary>Refuses an asynchronous operation, which returns before it has finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete(AsynchronousOperation.Message, error: true)]
    [OverloadResolutionPriority(1)]
    public void Write(Func<WriteTransaction, Task> operation) =>
        throw AsynchronousOperation.Error();

    /// <summary>Refuses an asynchronous operation, which returns before it has finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete(AsynchronousOperation.Message, error: true)]
    [OverloadResolutionPriority(1)]
    public T Write<T>(Func<WriteTransaction, Task<T>> operation) =>
        throw AsynchronousOperation.Error();

    /// <summary>Refuses an asynchronous operation, which returns before it has finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete(AsynchronousOperation.Message, error: true)]
    public void Write(Func<WriteTransaction, ValueTask> operation) =>
        throw AsynchronousOperation.Error();

    /// <summary>Refuses an asynchronous operation, which returns before it has finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete(AsynchronousOperation.Message, error: true)]
    public T Write<T>(Func<WriteTransaction, ValueTask<T>> operation) =>
        throw AsynchronousOperation.Error();

    /// <summary>Runs an operation that does nothing but throw.</summary>
    /// <inheritdoc cref="Write{TState}(TState, Action{WriteTransaction, TState})"/>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [OverloadResolutionPriority(2)]
    public void Write<TState>(TState state, Func<WriteTransaction, TState, WriteTransaction> operation)
    {
        ArgumentNullException.ThrowIfNull(operation);
        Write((state, operation), static (transaction, both) => { both.operation(transaction, both.state); });
    }

    /// <summary>Refuses an asynchronous operation, which returns before it has finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete(AsynchronousOperation.Message, error: true)]
    [OverloadResolutionPriority(1)]
    public void Write<TState>(TState state, Func<WriteTransaction, TState, Task> operation) =>
        throw AsynchronousOperation.Error();

    /// <summary>Refuses an asynchronous operation, which returns before it has finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete(AsynchronousOperation.Message, error: true)]
    [OverloadResolutionPriority(1)]
    public T Write<TState, T>(TState state, Func<WriteTransaction, TState, Task<T>> operation) =>
        throw AsynchronousOperation.Error();

    /// <summary>Refuses an asynchronous operation, which returns before it has finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete(AsynchronousOperation.Message, error: true)]
    public void Write<TState>(TState state, Func<WriteTransaction, TState, ValueTask> operation) =>
        throw AsynchronousOperation.Error();

    /// <summary>Refuses an asynchronous operation, which returns before it has finished.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    [Obsolete(AsynchronousOperation.Message, error: true)]
    public T Write<TState, T>(TState state, Func<WriteTransaction, TState, ValueTask<T>> operation) =>
        throw AsynchronousOperation.Error();
}
