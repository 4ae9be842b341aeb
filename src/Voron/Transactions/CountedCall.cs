namespace Voron.Transactions;

/// <summary>A call that uses the environment's memory and files, which are kept until it ends.</summary>
/// <remarks>
/// A call that waits for user code, such as the stream of a backup, may wait forever. It therefore ends here once only that wait remains, and
/// neither closing the environment nor reopening it depends on user code.
/// </remarks>
internal sealed class CountedCall
{
    private readonly EnvironmentUseCount _users;
    private int _hasEnded;

    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public CountedCall(EnvironmentUseCount users)
    {
        users.AddCall();
        _users = users;
    }

    /// <summary>Ends the use. The caller must not use the environment's memory or files any more.</summary>
    public void End()
    {
        if (Interlocked.Exchange(ref _hasEnded, 1) == 0)
            _users.RemoveCall();
    }

    /// <summary>
    /// Waits for user code. Ends the use if the wait is cancelled: if the work succeeds nevertheless, only the token tells the caller that the use
    /// has ended.
    /// </summary>
    /// <param name="work">The work, which uses nothing of the environment.</param>
    /// <param name="stop">Cancels the wait, and the work if it observes the token.</param>
    /// <returns>The result of the work, however late.</returns>
    public async Task<T> WaitForUserAsync<T>(Task<T> work, CancellationToken stop)
    {
        try
        {
            return await work.WaitAsync(stop).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            End();
            return await work.ConfigureAwait(false);
        }
    }
}
