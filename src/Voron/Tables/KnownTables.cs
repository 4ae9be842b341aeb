using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using Voron.Testing;

namespace Voron.Tables;

/// <summary>
/// What an environment remembers of the tables that the program has opened to write, until it is closed: which of them have expiring rows, which
/// of their indexes have been compared with their functions, and whose rows a build of indexes has to know.
/// </summary>
/// <remarks>Changed by the holder of the writer. <see cref="ExpiryRuns"/> reads it in the background.</remarks>
/// <param name="expiry">Runs the deletion of expired rows.</param>
internal sealed class KnownTables(BackgroundRun expiry)
{
    private readonly ConcurrentDictionary<string, TableFunctions> _expiring = new();

    // Lives as long as the definition, which the environment does not keep alive.
    private readonly ConditionalWeakTable<TableFunctions, CheckedIndexes> _sampled = [];

    /// <summary>The definitions of tables with expiring rows, one for each name.</summary>
    public ConcurrentDictionary<string, TableFunctions> Expiring => _expiring;

    /// <summary>The rows that writers change while indexes of a table are built, by the number of the table.</summary>
    public ConcurrentDictionary<ushort, RowChanges> Building { get; } = new();

    /// <summary>Returns what the environment of a transaction remembers.</summary>
    public static KnownTables Of(WriteTransaction transaction) => (KnownTables)transaction.LayerObject;

    /// <summary>Returns which indexes have been compared with the functions of a definition.</summary>
    public CheckedIndexes SampledOf(TableFunctions functions) => _sampled.GetValue(functions, static _ => new CheckedIndexes());

    /// <summary>Notes that a transaction has opened a table with expiring rows, and starts a run if one is due. Never throws.</summary>
    public void OnExpiring(TableFunctions functions)
    {
        if (!expiry.IsEnabled)
            return;
        try
        {
            if (!_expiring.TryGetValue(functions.Name, out var known) || known != functions)
                _expiring[functions.Name] = functions;
        }
        catch (OutOfMemoryException)
        {
            // The next call tries again.
            return;
        }

        expiry.TryBegin();
    }

    /// <summary>Forgets a table that a transaction has deleted. After a rollback, the next transaction that opens the table notes it again.</summary>
    public void OnDeleted(string name) => _ = PlantedFault.KeepDroppedDefinitions || _expiring.TryRemove(name, out _);
}
