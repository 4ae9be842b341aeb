using System.Collections.Concurrent;
using Voron.Testing;

namespace Voron.Tables;

/// <summary>Deletes expired rows in the background from the tables that the program has opened for writing.</summary>
/// <remarks>
/// <code>
///   idle ──a transaction opens such a table to write, the first one in a minute──▶ running ──all tables swept──▶ idle
/// </code>
/// A deletion needs the functions of the definition, so one definition per table name is kept until the table is deleted.
/// </remarks>
internal sealed class ExpiryRuns
{
    private readonly BackgroundRun _run;
    private readonly ConcurrentDictionary<string, TableFunctions> _tables = new();

    /// <param name="run">Runs the deletion.</param>
    public ExpiryRuns(BackgroundRun run)
    {
        _run = run;
        run.Work = SweepAllAsync;
    }

    /// <summary>The number of tables whose definitions are kept.</summary>
    public int Tables => _tables.Count;

    /// <summary>Notes that the holder of the writer has opened a table, and starts a run if one is due. Never throws.</summary>
    /// <param name="table">The definition of the table.</param>
    public void OnOpened(object table)
    {
        if (!_run.IsEnabled)
            return;
        try
        {
            var functions = (TableFunctions)table;
            if (!_tables.TryGetValue(functions.Name, out var known) || known != functions)
                _tables[functions.Name] = functions;
        }
        catch (OutOfMemoryException)
        {
            // The next call tries again.
            return;
        }

        _run.TryBegin();
    }

    /// <summary>Forgets a table that a transaction has deleted. After a rollback, the next transaction that opens the table notes it again.</summary>
    public void OnDeleted(string name) => _ = PlantedFault.KeepDroppedDefinitions || _tables.TryRemove(name, out _);

    private async Task SweepAllAsync(long now, CancellationToken stop)
    {
        foreach (var (_, functions) in _tables)
            await SweepAsync(functions, now, stop).ConfigureAwait(false);
    }

    private async Task SweepAsync(TableFunctions functions, long now, CancellationToken stop)
    {
        try
        {
            // A time provider set by the caller is used as is.
            var until = _run.Options.TimeProvider?.GetUtcNow().UtcTicks ?? now;
            var sweep = new ExpirySweep(new DateTimeOffset(until, TimeSpan.Zero), _run.BeginRead, _run.WriteAsync, functions);
            var deleted = await sweep.RunAsync(stop).ConfigureAwait(false);
            if (deleted > 0)
                TableLog.ExpiredDeleted(_run.Logger, functions.Name, _run.Path, deleted);
        }
        catch (KeyNotFoundException)
        {
            // A transaction that was open while the table was deleted has noted it again.
            _tables.TryRemove(KeyValuePair.Create(functions.Name, functions));
        }
        catch (Exception e) when (e is SchemaMismatchException or IndexNotReadyException)
        {
            // Another program has evolved the table.
        }
        catch (Exception e) when (e is not (OperationCanceledException or ObjectDisposedException))
        {
            TableLog.ExpiryFailed(_run.Logger, functions.Name, _run.Path, e.Message, e);
        }
    }
}
