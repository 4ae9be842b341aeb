using System.Collections.Concurrent;
using Voron.Primitives;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Tables;

/// <summary>Deletes expired rows in the background from the tables that the program has opened for writing.</summary>
/// <remarks>
/// <code>
///   idle ──a transaction opens such a table to write, the first one in a minute──▶ running ──all tables swept──▶ idle
/// </code>
/// A deletion needs the functions of the definition, so one definition per table name is kept until the table is deleted.
/// </remarks>
/// <param name="engine">The engine of the environment.</param>
/// <param name="beginRead">Begins a read transaction.</param>
/// <param name="write">Runs an operation of a group commit.</param>
internal sealed class ExpiryRuns(
    Engine engine, Func<ReadTransaction> beginRead, Func<Func<WriteTransaction, long>, CancellationToken, ValueTask<long>> write)
    : IThreadPoolWorkItem
{
    private static readonly TimeSpan LongestPause = TimeSpan.FromMinutes(1);

    // Used only by the run, of which there is one at a time.
    private readonly SteadyClock _clock = engine.CreateDeletionClock(TimeProvider.System);

    private readonly ConcurrentDictionary<string, TableFunctions> _tables = new();
    private long _ranAtTick = Environment.TickCount64 - (long)LongestPause.TotalMilliseconds;
    private int _isRunning;

    /// <summary>The number of tables whose definitions are kept.</summary>
    public int Tables => _tables.Count;

    /// <summary>Notes that the holder of the writer has opened a table, and starts a run if one is due. Never throws.</summary>
    /// <param name="table">The definition of the table.</param>
    public void OnOpened(object table)
    {
        if (!engine.Options.BackgroundFlush)
            return;
        try
        {
            var functions = (TableFunctions)table;
            if (!_tables.TryGetValue(functions.Name, out var known) || known != functions)
                _tables[functions.Name] = functions;
            if (Environment.TickCount64 - _ranAtTick < LongestPause.TotalMilliseconds || Interlocked.Exchange(ref _isRunning, 1) != 0)
                return;
            _ranAtTick = Environment.TickCount64;
        }
        catch (OutOfMemoryException)
        {
            // The next call tries again.
            return;
        }

        Begin();
    }

    /// <summary>Forgets a table that a transaction has deleted. After a rollback, the next transaction that opens the table notes it again.</summary>
    public void OnDeleted(string name) => _ = PlantedFault.KeepDroppedDefinitions || _tables.TryRemove(name, out _);

    private void Begin()
    {
        try
        {
            SchedulePoint.Queue(this);
        }
        catch (OutOfMemoryException)
        {
            // The next run does the work.
            Volatile.Write(ref _isRunning, 0);
        }
    }

    void IThreadPoolWorkItem.Execute() => _ = RunAsync();

    // Never throws.
    private async Task RunAsync()
    {
        try
        {
            if (!engine.Users.TryAddWork())
                return;
            try
            {
                foreach (var (_, functions) in _tables)
                    await SweepAsync(functions).ConfigureAwait(false);
            }
            finally
            {
                engine.Users.RemoveWork();
            }
        }
        catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException)
        {
            // The environment is being closed: the next run continues.
        }
        finally
        {
            Volatile.Write(ref _isRunning, 0);
        }
    }

    private async Task SweepAsync(TableFunctions functions)
    {
        try
        {
            // A time provider set by the caller is used as is.
            var until = engine.Options.TimeProvider?.GetUtcNow().UtcTicks ?? _clock.Read();
            var sweep = new ExpirySweep(new DateTimeOffset(until, TimeSpan.Zero), beginRead, write, functions);
            var deleted = await sweep.RunAsync(engine.Closing.Token).ConfigureAwait(false);
            if (deleted > 0)
                TableLog.ExpiredDeleted(engine.Logger, functions.Name, engine.Disk.Path, deleted);
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
            TableLog.ExpiryFailed(engine.Logger, functions.Name, engine.Disk.Path, e.Message, e);
        }
    }
}
