using Voron.Flushing;
using Voron.Format;
using Voron.Paging;
using Voron.Recovery;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Opening;

/// <summary>Names the features of the format that replayed transactions have begun to use, and that the header does not name.</summary>
/// <remarks>
/// <para>
/// The creation of a tree writes the header before the journal, so the header of the same moment names all features. A header that was copied
/// before the creation, next to a later journal, does not, and the next flush would make it the header of a data file with these trees: an engine
/// that does not know the feature would open it, and report their pages as damaged.
/// </para>
/// <para>
/// Each new tree takes the next id. As long as the next id is that of the header, the catalog contains no tree unknown to the header, and is
/// not read.
/// </para>
/// </remarks>
internal static class ReplayedFeatures
{
    /// <summary>
    /// Names the features in both slots of the header, before transactions are flushed. An opening for reading adopts them in memory, and
    /// writes nothing.
    /// </summary>
    /// <param name="engine">The engine after recovery.</param>
    /// <param name="checkpoints">The header.</param>
    /// <param name="recovered">The result of recovery.</param>
    public static void Name(ReadingEngine engine, HeaderFile checkpoints, RecoveryResult recovered)
    {
        var header = checkpoints.Current;
        var hasNewTrees = recovered.State.NextTreeId != header.State.NextTreeId;
        if (!hasNewTrees || engine.Format.Has(JournalFormat.KnownFeatures) || PlantedFault.LeaveFeaturesUnnamed)
            return;
        var features = CatalogFeatures.Find(engine.Snapshots);
        if (engine.Format.Has(features))
            return;
        if (engine.Options.ReadOnly)
        {
            engine.Format.Adopt(header with { Features = header.Features | features });
            return;
        }

        checkpoints.Upgrade(features);
        engine.Format.Adopt(checkpoints.Current);
        FlushLog.FormatChanged(engine.Logger, engine.Disk.Path, engine.Format.Version, engine.Format.Features);
    }
}
