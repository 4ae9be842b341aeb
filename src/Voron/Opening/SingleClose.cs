namespace Voron.Opening;

/// <summary>Closes an environment once, for the first caller who wants it, and lets all callers wait for the end.</summary>
/// <param name="close">Closes the environment.</param>
internal sealed class SingleClose(Action close)
{
    // The continuations are the user's code, and must not run on the thread that closes.
    private readonly TaskCompletionSource _closed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _hasBegun;

    public bool HasBegun => Volatile.Read(ref _hasBegun) != 0;

    /// <summary>Closes on the thread of the caller. Returns at once if the close has begun.</summary>
    public void Run()
    {
        if (TryBegin())
            Close();
    }

    /// <summary>Closes on a thread in the background, unless the close has begun.</summary>
    /// <returns>A task that completes when the environment is closed.</returns>
    public Task RunInBackground()
    {
        if (TryBegin())
            BeginThread();
        return _closed.Task;
    }

    private bool TryBegin() => Interlocked.Exchange(ref _hasBegun, 1) == 0;

    private void Close()
    {
        try
        {
            close();
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

    private void BeginThread()
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
