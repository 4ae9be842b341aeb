using Voron.Format;
using Voron.Snapshots;
using Voron.Trees;
using Voron.Trees.IdSets;
using Voron.Trees.Pages;

namespace Voron.Maintenance;

/// <summary>Finds the key to whose set a page belongs, and the way from the root of the set to the page.</summary>
/// <remarks>The page has a hash of the key alone, so the leaves of the tree are read.</remarks>
internal static unsafe class SetPlaceFinder
{
    /// <summary>Returns the place; null if no key with the hash of the page has a set with pages of its own.</summary>
    /// <param name="snapshot">The pages.</param>
    /// <param name="header">The header of the page, which is an id page or an array page of a set.</param>
    /// <param name="page">The number of the page.</param>
    /// <param name="id">An id that the page has, or that leads through it; null if the page shows none.</param>
    /// <param name="stop">Ends the search.</param>
    /// <exception cref="OperationCanceledException">The search was stopped.</exception>
    public static SetPlace? Find(SnapshotPages snapshot, in PageHeader header, long page, long? id, CancellationToken stop)
    {
        if (header.TreeMark == 0 || TreePlaceFinder.FindTree(snapshot, header.TreeMark - 1) is not (_, { Kind: TreeKind.IdSets } tree))
            return null;
        SetPlace? best = null;
        var cursor = new TreeCursor();
        try
        {
            cursor.Open(new TreeState(tree), snapshot, canChange: false);
            for (var found = cursor.SeekFirst(); found && best is not { Level: >= 0 }; found = cursor.MoveNext())
            {
                stop.ThrowIfCancellationRequested();
                var record = cursor.Record;
                if (!IdTreeReader.IsSetWithPages(record) || IdSetMarks.Hash(LeafPage.Key(record)) != header.OwnerHash)
                    continue;
                var set = *(IdSetReference*)LeafPage.InlineBytes(record);
                var (level, parent) = Descend(snapshot, set, id, page);
                best = new SetPlace(LeafPage.Key(record).ToArray(), set.Ids, set.Depth, level, parent);
            }
        }
        catch (VoronException)
        {
            // The leaves behind the damage cannot be found.
        }
        finally
        {
            cursor.Close();
        }

        return best;
    }

    // The levels of a set count from its root. Those of a description count from the id pages, as those of a tree count from its leaves.
    private static (int Level, long Parent) Descend(SnapshotPages snapshot, in IdSetReference set, long? id, long page)
    {
        if (page == set.Root)
            return (set.Depth - 1, 0);
        if (id == null)
            return (-1, 0);
        try
        {
            var path = new IdSetPath();
            path.Descend(snapshot, ArrayLayout.OfBranches(snapshot.PageSize), set, id.Value);
            for (var level = 1; level <= path.LeafLevel; level++)
            {
                if (path.Page(level).Value == page)
                    return (path.LeafLevel - level, path.Page(level - 1).Value);
            }
        }
        catch (VoronException)
        {
            // A page above is damaged.
        }

        return (-1, 0);
    }
}
