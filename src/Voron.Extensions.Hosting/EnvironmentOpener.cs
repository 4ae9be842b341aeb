using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Voron.Extensions.Hosting;

/// <summary>
/// Opens the environments when the host starts, before any other service starts, and all at the same time, and brings their tables to their
/// definitions. Closes nothing: the environments end with the services, when all hosted services have stopped.
/// </summary>
/// <param name="names">The names of the environments.</param>
/// <param name="services">The services of the application.</param>
internal sealed class EnvironmentOpener(EnvironmentNames names, IServiceProvider services) : IHostedLifecycleService
{
    public async Task StartingAsync(CancellationToken cancellationToken)
    {
        names.ThrowIfMissing();

        // One that fails ends the wait for the lock of the others: the host does not start anyway.
        using var giveUp = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var all = Task.WhenAll(names.All.Select(name => OpenAsync(name, giveUp)));
        try
        {
            await all.ConfigureAwait(false);
        }
        catch (Exception) when (all.Exception is { InnerExceptions.Count: > 1 } failures)
        {
            throw new AggregateException(failures.InnerExceptions);
        }
    }

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    private async Task OpenAsync(string name, CancellationTokenSource giveUp)
    {
        try
        {
            var environment = await services.GetRequiredKeyedService<HostedEnvironment>(name).OpenAsync(giveUp.Token).ConfigureAwait(false);
            foreach (var table in services.GetKeyedServices<HostedTable>(name))
                await table.EvolveAsync(environment, giveUp.Token).ConfigureAwait(false);
        }
        catch (Exception)
        {
            await giveUp.CancelAsync().ConfigureAwait(false);
            throw;
        }
    }
}
