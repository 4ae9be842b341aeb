namespace Voron.Transactions;

/// <summary>A call that uses the environment's memory and files, which stay until it has ended.</summary>
/// <remarks>
/// A call that waits for code of the user, such as the stream of a backup, may wait for ever. So it ends here when all that is left is that wait, and
/// neither closing the environment nor opening it again depends on the user's code.
/// </remarks>
internal sealed class CountedCall
{
    private readonly EnvironmentUsers _users;
    private int _hasEnded;

    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public CountedCall(EnvironmentUsers users)
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
    /// Waits for code of the user. Ends the use if the wait is cancelled: if the work succeeds even so, the caller must find that out from the token.
    /// </summary>
    /// <param name="work">The work, which uses nothing of the environment.</param>
    /// <param name="stop">Cancels the wait, and the work if that heeds it.</param>
    /// <returns>The result of the work, whenever that comes.</returns>
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
