using System.Runtime.ExceptionServices;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>
/// The synchronization context of a group-commit operation. Finds out whether the operation starts asynchronous work that has not finished
/// when it returns, and keeps the failure of such work from ending the process.
/// </summary>
/// <remarks>
/// The compiler turns a method that is <c>async void</c> into one that returns at its first <c>await</c>, and accepts it as an operation. Such
/// a method announces itself to the context of its thread when it begins and when it ends, and passes its exception to that context instead
/// of to its caller. So does the older asynchronous pattern with events. A method that returns a task does none of this.
/// <code>
///   running: an exception fails the operation  ──Close──▶  over: an exception is reported, and ends nothing
/// </code>
/// A context that no work has announced itself to can be used for the next operation.
/// </remarks>
internal sealed class OperationContext(Action<Exception> failedLate) : SynchronizationContext
{
    private static readonly Action<PostedCall> Run = static call => call.Run();

    private readonly Lock _gate = new();
    private ExceptionDispatchInfo? _failure;
    private int _unfinished;
    private bool _isUsed;
    private bool _isOver;

    /// <summary>True when asynchronous work has announced itself here, so that the context belongs to one operation for good.</summary>
    public bool IsUsed => Volatile.Read(ref _isUsed);

    public override void OperationStarted()
    {
        Volatile.Write(ref _isUsed, true);
        Interlocked.Increment(ref _unfinished);
    }

    public override void OperationCompleted() => Interlocked.Decrement(ref _unfinished);

    public override void Post(SendOrPostCallback d, object? state)
    {
        // The exception of a method that is async void. The method has ended, and its caller may already have continued.
        if (state is ExceptionDispatchInfo failure)
        {
            using (Uninterrupted.Hold(_gate))
            {
                if (!_isOver)
                {
                    _failure ??= failure;
                    return;
                }
            }
        }

        ThreadPool.QueueUserWorkItem(Run, new PostedCall(d, state, failedLate), preferLocal: false);
    }

    public override SynchronizationContext CreateCopy() => this;

    /// <summary>Ends the operation. The failure of asynchronous work that it has started is reported from here on.</summary>
    public void Close()
    {
        using (Uninterrupted.Hold(_gate))
            _isOver = true;
    }

    /// <summary>Throws the failure of asynchronous work that the operation has started, or an exception for work that has not finished.</summary>
    /// <exception cref="InvalidOperationException">Asynchronous work had not finished when the operation returned.</exception>
    public void ThrowIfUnfinished()
    {
        _failure?.Throw();
        if (Volatile.Read(ref _unfinished) > 0)
        {
            throw new InvalidOperationException(
                "The operation returned before it had finished: it is an async void method, or has started one. Its transaction ended when it returned, " +
                "so its changes were undone. An operation runs synchronously. For asynchronous work, use BeginWriteAsync and CommitAsync.");
        }
    }

    private sealed record PostedCall(SendOrPostCallback Callback, object? State, Action<Exception> FailedLate)
    {
        public void Run()
        {
            try
            {
                Callback(State);
            }
            catch (Exception e)
            {
                FailedLate(e);
            }
        }
    }
}
