using System.Diagnostics.CodeAnalysis;

namespace Voron.Extensions.Hosting;

/// <summary>An environment of the application: opened once, by the first caller that needs it, and closed with the services.</summary>
/// <remarks>
/// Of several callers at once, one opens the environment and the others wait for it. A failure reaches all of them, and the next call tries again. A
/// cancellation ends only the call that was cancelled. An opening that is under way when the services are disposed closes what it has opened.
/// </remarks>
internal sealed class HostedEnvironment(IEnvironmentSource source) : IDisposable, IAsyncDisposable
{
    // The environment that the current flow of control is opening: an observer or a logger that asks for it there would wait for itself.
    private static readonly AsyncLocal<HostedEnvironment?> BeingOpened = new();

    private readonly Lock _gate = new();

    // Never disposed: it holds no resources, and an opening may still use it.
    private readonly CancellationTokenSource _closing = new();
    private TaskCompletionSource<StorageEnvironment>? _opening;
    private StorageEnvironment? _environment;
    private Exception? _failure;
    private bool _isClosed;

    /// <summary>The section of the configuration.</summary>
    public string Section => source.Section;

    /// <summary>Returns the present condition; opens nothing and waits for nothing.</summary>
    public EnvironmentCondition Condition
    {
        get
        {
            lock (_gate)
                return new EnvironmentCondition(_environment, _opening != null, _isClosed, _failure);
        }
    }

    /// <summary>Returns the environment, and opens it on the calling thread if it is not open yet.</summary>
    /// <exception cref="InvalidOperationException">The environment cannot be opened; the inner exception says why.</exception>
    /// <exception cref="ObjectDisposedException">The services have been disposed.</exception>
    public StorageEnvironment Open()
    {
        while (true)
        {
            var mine = Begin(out var pending, out var opening);
            if (mine != null)
                return Open(mine, opening!);
            try
            {
                return pending!.GetAwaiter().GetResult();
            }
            catch (OperationCanceledException) when (pending!.IsCanceled)
            {
                // The caller that was opening it was cancelled; this one was not.
            }
        }
    }

    /// <summary>Returns the environment, and opens it if it is not open yet, without blocking the calling thread.</summary>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    /// <inheritdoc cref="Open()"/>
    public async Task<StorageEnvironment> OpenAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var mine = Begin(out var pending, out var opening);
            if (mine != null)
                return await OpenAsync(mine, opening!, cancellationToken).ConfigureAwait(false);
            try
            {
                return await pending!.WaitAsync(cancellationToken).ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (pending!.IsCanceled && !cancellationToken.IsCancellationRequested)
            {
                // As in Open.
            }
        }
    }

    /// <summary>Closes the environment. One that has not been opened will not be opened any more.</summary>
    public void Dispose() => Close()?.Dispose();

    /// <inheritdoc cref="Dispose"/>
    public ValueTask DisposeAsync() => Close()?.DisposeAsync() ?? ValueTask.CompletedTask;

    private StorageEnvironment? Close()
    {
        lock (_gate)
            _isClosed = true;
        _closing.Cancel();

        // No opening completes from here on.
        return _environment;
    }

    // Returns null if the environment is open, or another caller is opening it: then there is a task to wait for.
    private TaskCompletionSource<StorageEnvironment>? Begin(out Task<StorageEnvironment>? pending, out EnvironmentOpening? opening)
    {
        opening = null;
        if (IsBegun(out pending))
            return null;

        // Calls code of the application, and therefore not with the lock.
        opening = Prepare();
        lock (_gate)
        {
            if (IsBegun(out pending))
                return null;
            _failure = null;
            return _opening = new TaskCompletionSource<StorageEnvironment>(TaskCreationOptions.RunContinuationsAsynchronously);
        }
    }

    private bool IsBegun([NotNullWhen(true)] out Task<StorageEnvironment>? pending)
    {
        lock (_gate)
        {
            ThrowIfClosed();
            pending = _opening?.Task;
            if (pending is { IsCompleted: false } && BeingOpened.Value == this)
            {
                throw new InvalidOperationException(
                    $"The environment of section '{Section}' is needed by code that its own opening calls, such as an observer. Let that code wait until the opening has returned.");
            }

            return pending != null;
        }
    }

    private EnvironmentOpening Prepare()
    {
        try
        {
            return source.Prepare();
        }
        catch (Exception e)
        {
            lock (_gate)
                _failure = e;
            throw;
        }
    }

    private StorageEnvironment Open(TaskCompletionSource<StorageEnvironment> mine, EnvironmentOpening opening)
    {
        StorageEnvironment environment;
        var outer = BeingOpened.Value;
        BeingOpened.Value = this;
        try
        {
            environment = opening.Open();
        }
        catch (Exception e)
        {
            throw Fail(mine, opening, e);
        }
        finally
        {
            BeingOpened.Value = outer;
        }

        if (TryKeep(mine, environment))
            return environment;
        environment.Dispose();
        throw FailClosed(mine);
    }

    private async Task<StorageEnvironment> OpenAsync(
        TaskCompletionSource<StorageEnvironment> mine, EnvironmentOpening opening, CancellationToken cancellationToken)
    {
        StorageEnvironment environment;
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _closing.Token);
        try
        {
            // Lasts until this method returns: an asynchronous method has a flow of its own.
            BeingOpened.Value = this;
            environment = await opening.OpenAsync(either.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (_closing.IsCancellationRequested)
        {
            throw FailClosed(mine);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            lock (_gate)
                _opening = null;
            mine.SetCanceled(cancellationToken);
            throw;
        }
        catch (Exception e)
        {
            throw Fail(mine, opening, e);
        }

        if (TryKeep(mine, environment))
            return environment;
        await environment.DisposeAsync().ConfigureAwait(false);
        throw FailClosed(mine);
    }

    private bool TryKeep(TaskCompletionSource<StorageEnvironment> mine, StorageEnvironment environment)
    {
        lock (_gate)
        {
            if (_isClosed)
                return false;
            _environment = environment;
        }

        mine.SetResult(environment);
        return true;
    }

    private InvalidOperationException Fail(TaskCompletionSource<StorageEnvironment> mine, EnvironmentOpening opening, Exception cause)
    {
        var failure = new InvalidOperationException(
            $"The environment of section '{Section}' cannot be opened in '{opening.Place}': {cause.Message}", cause);
        End(mine, failure);
        return failure;
    }

    private ObjectDisposedException FailClosed(TaskCompletionSource<StorageEnvironment> mine)
    {
        var failure = Closed();
        End(mine, failure);
        return failure;
    }

    private void End(TaskCompletionSource<StorageEnvironment> mine, Exception failure)
    {
        lock (_gate)
        {
            _opening = null;
            _failure = failure;
        }

        mine.SetException(failure);

        // Looked at here: the caller that was opening gets it, and there may be no other.
        _ = mine.Task.Exception;
    }

    private void ThrowIfClosed()
    {
        if (_isClosed)
            throw Closed();
    }

    private ObjectDisposedException Closed() =>
        new(nameof(StorageEnvironment), $"The environment of section '{Section}' is closed, because the services of the application have been disposed.");
}
