using System.Diagnostics.CodeAnalysis;
using Voron.Opening;

namespace Voron;

/// <content>Closing, on the caller's thread or in the background.</content>
public sealed partial class StorageEnvironment : IAsyncDisposable
{
    // The continuations are the user's code, and must not run on the thread that closes.
    private readonly TaskCompletionSource _closed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>
    /// Closes the environment like <see cref="Dispose"/>, but on a background thread: neither the calling thread nor a pool thread waits for the
    /// device.
    /// </summary>
    /// <returns>
    /// A task that completes when the environment is closed. If another call of this method or of <see cref="Dispose"/> has begun to close it,
    /// the task completes with that call.
    /// </returns>
    /// <inheritdoc cref="Dispose"/>
    [SuppressMessage("Design", "CA1816", Justification = "There is no finalizer.")]
    public ValueTask DisposeAsync()
    {
        _writing?.GroupCommit.ThrowIfInside(nameof(DisposeAsync));
        if (Interlocked.Exchange(ref _disposed, 1) == 0)
            CloseInBackground();
        return new ValueTask(_closed.Task);
    }

    // Called once, by the caller that has set _disposed.
    private void Close()
    {
        try
        {
            try
            {
                new EnvironmentCloser(_opened).Close();
            }
            finally
            {
                EndMeasuring();
            }

            _closed.SetResult();
        }
        catch (Exception e)
        {
            _closed.SetException(e);

            // Looked at here: the caller of Dispose gets the exception, and no other caller may ever ask for it.
            _ = _closed.Task.Exception;
            throw;
        }
    }

    private void CloseInBackground()
    {
        try
        {
            new Thread(CloseQuietly) { IsBackground = true, Name = "Voron close" }.Start();
        }
        catch (Exception e) when (e is OutOfMemoryException or ThreadStartException)
        {
            // The system has no memory for another thread, or makes none.
            CloseQuietly();
        }
    }

    private void CloseQuietly()
    {
        try
        {
            Close();
        }
        catch (Exception)
        {
            // The task has it.
        }
    }
}
