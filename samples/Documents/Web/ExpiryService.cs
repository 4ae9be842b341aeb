namespace Voron.Documents.Web;

/// <summary>Deletes documents whose time is over, again and again while the server runs.</summary>
internal sealed class ExpiryService(DocumentStore store, ServerOptions options, ILogger<ExpiryService> logger) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        using var timer = new PeriodicTimer(options.ExpiryInterval, options.Time);
        while (await timer.WaitForNextTickAsync(stoppingToken))
        {
            try
            {
                await store.ExpireAsync(stoppingToken);
            }
            catch (Exception e) when (e is VoronException or KeyNotFoundException)
            {
                // A full disk, or a collection that was deleted meanwhile: the next round may go better.
                logger.LogError(e, "Documents whose time is over were not deleted.");
            }
        }
    }
}
