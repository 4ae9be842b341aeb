namespace Voron.Feeds;

/// <summary>Waits repeatedly for the next durable transaction. Holds nothing while it waits.</summary>
internal sealed class CommitWait : IDisposable
{
    // How often a waiting caller checks whether a write has failed.
    private static readonly TimeSpan LookPause = TimeSpan.FromSeconds(1);

    private readonly StorageEnvironment _environment;
    private readonly CancellationToken _cancellation;
    private readonly CancellationTokenSource _stop;
    private Task _next = Task.CompletedTask;

    /// <param name="environment">The environment.</param>
    /// <param name="cancellation">Ends a wait.</param>
    public CommitWait(StorageEnvironment environment, CancellationToken cancellation)
    {
        _environment = environment;
        _cancellation = cancellation;
        _stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation, environment.ClosingToken);
    }

    /// <summary>Begins to watch. Afterwards the caller looks for news, and waits if it finds none.</summary>
    public void Arm() => _next = _environment.NextDurableCommit();

    /// <summary>Waits for the next transaction that becomes durable after <see cref="Arm"/>, or for a second.</summary>
    /// <exception cref="OperationCanceledException">The wait was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The environment was closed.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write has failed: no transaction will follow.</exception>
    public async ValueTask WaitAsync()
    {
        try
        {
            await _next.WaitAsync(LookPause, _stop.Token).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            _environment.ThrowIfPoisoned();
        }
        catch (OperationCanceledException e)
        {
            if (_cancellation.IsCancellationRequested)
                throw new OperationCanceledException("The enumeration of changes was cancelled.", e, _cancellation);
            throw _environment.ClosedError(" It was closed while a consumer of a change feed waited for changes.");
        }
    }

    public void Dispose() => _stop.Dispose();
}
