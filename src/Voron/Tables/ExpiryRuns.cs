namespace Voron.Tables;

/// <summary>Deletes expired rows in the background from the tables that the program has opened for writing.</summary>
/// <remarks>
/// <code>
///   idle ──a transaction opens such a table to write, the first one in a minute──▶ running ──all tables swept──▶ idle
/// </code>
/// A deletion needs the functions of the definition, so <see cref="KnownTables"/> keeps one per table name until the table is deleted.
/// </remarks>
/// <param name="run">Runs the deletion.</param>
/// <param name="tables">The tables.</param>
internal sealed class ExpiryRuns(BackgroundRun run, KnownTables tables)
{
    /// <summary>Deletes the expired rows of all tables. Throws only if the environment is being closed.</summary>
    /// <param name="stop">Cancelled when the environment is closed.</param>
    public async Task SweepAllAsync(CancellationToken stop)
    {
        foreach (var (_, functions) in tables.Expiring)
            await SweepAsync(functions, stop).ConfigureAwait(false);
    }

    private async Task SweepAsync(TableFunctions functions, CancellationToken stop)
    {
        try
        {
            // A time provider set by the caller is used as is.
            var until = run.Options.TimeProvider?.GetUtcNow().UtcTicks ?? run.ReadClock();
            var sweep = new ExpirySweep(new DateTimeOffset(until, TimeSpan.Zero), run.BeginRead, run.WriteAsync, functions);
            var deleted = await sweep.RunAsync(stop).ConfigureAwait(false);
            if (deleted > 0)
                TableLog.ExpiredDeleted(run.Logger, functions.Name, run.Path, deleted);
        }
        catch (KeyNotFoundException)
        {
            // A transaction that was open while the table was deleted has noted it again.
            tables.Expiring.TryRemove(KeyValuePair.Create(functions.Name, functions));
        }
        catch (Exception e) when (e is SchemaMismatchException or IndexNotReadyException)
        {
            // Another program has evolved the table.
        }
        catch (Exception e) when (e is not (OperationCanceledException or ObjectDisposedException))
        {
            TableLog.ExpiryFailed(run.Logger, functions.Name, run.Path, e.Message, e);
        }
    }
}
