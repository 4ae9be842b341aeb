using Voron.Trees;
using Voron.Trees.Kinds;

namespace Voron.Transactions;

/// <summary>Reads the pages for a step of a drop without holding the writer.</summary>
internal static class DropReadAhead
{
    /// <summary>Reads the pages that the next call of <see cref="WriteTransactionBody.CutDroppedTree"/> needs.</summary>
    /// <param name="engine">The environment.</param>
    /// <param name="fromId">The next tree is the first one whose id is not below this.</param>
    /// <param name="most">The number of pages to free.</param>
    public static void Read(ReadingEngine engine, uint fromId, int most)
    {
        try
        {
            using var reading = new EngineSnapshot(engine);
            var pages = reading.Snapshot;
            var catalog = new TreeState(pages.State.Catalog);
            if (!Catalog.TryFindDropped(catalog, pages, fromId, out var id))
                return;
            var name = SystemTree.DroppedName(id, stackalloc byte[SystemTree.DroppedNameBytes]);
            if (Catalog.TryFind(catalog, pages, name, out var header))
                TreeReadAhead.Read(pages, new TreeState(header), most);
        }
        catch (Exception e) when (e is VoronException or OutOfMemoryException)
        {
            // The step itself finds the same damage, and reports it with its tree.
        }
    }
}
