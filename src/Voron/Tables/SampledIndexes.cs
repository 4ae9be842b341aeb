using Voron.Testing;
using Voron.Transactions;

namespace Voron.Tables;

/// <summary>The indexes that an environment has compared with the functions of one definition, since it was opened.</summary>
/// <remarks>Lives as long as its definition, which the environment does not keep alive. Used by the holder of the writer.</remarks>
internal sealed class SampledIndexes
{
    private readonly HashSet<ushort> _indexes = [];
    private ushort _table;

    /// <summary>Compares a sample of the rows with the indexes of the definition, if one of them has not been compared before.</summary>
    /// <param name="session">The table, which the caller has just opened.</param>
    /// <param name="scope">The scope of the writer.</param>
    /// <exception cref="IndexMismatchException">An index contains other keys than its function returns.</exception>
    public static void Check(TableSession session, WriteScope scope)
    {
        // A definition that must not write computes no keys.
        if (session.Binding.Refusal != null || PlantedFault.BelieveIndexFunctions)
            return;
        var sampled = (SampledIndexes)scope.Sampled.GetValue(session.Functions, static _ => new SampledIndexes());
        if (sampled._table != session.Schema.Id)
            sampled._indexes.Clear();
        sampled._table = session.Schema.Id;
        var ready = session.Binding.Slots.Where(index => index?.State == IndexState.Ready).Select(index => index!.Id).ToList();
        try
        {
            if (!sampled._indexes.IsSupersetOf(ready))
                IndexSample.Check(session, session.Trees.Writing.TransactionId, mustRead: false);
        }
        catch (CorruptionException)
        {
            // The calls that need a damaged page report it. The rows on other pages can still be written.
        }

        sampled._indexes.UnionWith(ready);
        session.Sampled = session.Binding;
    }
}
