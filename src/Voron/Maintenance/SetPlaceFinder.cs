using Voron.Format;
using Voron.Primitives;
using Voron.Snapshots;
using Voron.Trees;
using Voron.Trees.IdSets;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Pages;

namespace Voron.Maintenance;

/// <summary>Finds the key of the set that a page belongs to, and the path from the root of the set to the page.</summary>
/// <remarks>The page stores only a hash of the key, so the leaves of the tree are read. Damaged ones are counted and skipped.</remarks>
internal sealed unsafe class SetPlaceFinder
{
    private readonly SnapshotPages _snapshot;
    private readonly uint _hash;
    private readonly long _page;
    private readonly long? _id;
    private readonly CancellationToken _stop;

    // A damaged branch may lead to itself, or to one that another link leads to.
    private readonly HashSet<long> _branches = [];
    private long _unreadLeaves;
    private long _unreadBranches;

    private SetPlaceFinder(SnapshotPages snapshot, uint hash, long page, long? id, CancellationToken stop) =>
        (_snapshot, _hash, _page, _id, _stop) = (snapshot, hash, page, id, stop);

    /// <summary>The place; null if no key with the hash of the page has a set with separate pages.</summary>
    public SetPlace? Place { get; private set; }

    /// <summary>The pages of the tree that could not be read. Others may be below them.</summary>
    public UnreadPages Unread => new(_unreadLeaves, _unreadBranches);

    private bool IsFound => Place is { Level: >= 0 };

    /// <summary>Searches for the place; returns null if the page does not belong to a tree of id sets.</summary>
    /// <param name="snapshot">The pages.</param>
    /// <param name="header">The header of the page, which is an id page or an array page of a set.</param>
    /// <param name="page">The number of the page.</param>
    /// <param name="id">An id in the page, or one whose path contains the page; null if the page shows none.</param>
    /// <param name="stop">Ends the search.</param>
    /// <exception cref="OperationCanceledException">The search was stopped.</exception>
    public static SetPlaceFinder? Run(SnapshotPages snapshot, in PageHeader header, long page, long? id, CancellationToken stop)
    {
        if (header.TreeMark == 0 || TreePlaceFinder.FindTree(snapshot, header.TreeMark - 1) is not (_, { Kind: TreeKind.IdSets } tree))
            return null;
        var finder = new SetPlaceFinder(snapshot, header.OwnerHash, page, id, stop);
        if (tree.Depth > 0)
            finder.Walk(tree.RootPage, tree.Depth - 1);
        return finder;
    }

    private void Walk(long page, int level)
    {
        _stop.ThrowIfCancellationRequested();
        var bytes = TryRead(page, level);
        if (bytes == null)
            return;
        for (var i = 0; i < SlottedPage.Count(bytes) && !IsFound; i++)
        {
            if (level == 0)
                Look(SlottedPage.Record(bytes, i));
            else
                Walk(BranchPage.Child(bytes, i).Value, level - 1);
        }
    }

    private byte* TryRead(long page, int level)
    {
        if (level > 0 && !_branches.Add(page))
            return null;
        try
        {
            return level == 0 ? TreePages.ReadLeaf(_snapshot, new PageNumber(page)) : TreePages.ReadBranch(_snapshot, new PageNumber(page));
        }
        catch (VoronException)
        {
            _unreadLeaves += level == 0 ? 1 : 0;
            _unreadBranches += level == 0 ? 0 : 1;
            return null;
        }
    }

    private void Look(byte* record)
    {
        if (!IdTreeReader.IsSetWithPages(record) || IdSetMarks.Hash(LeafPage.Key(record)) != _hash)
            return;
        var set = *(IdSetReference*)LeafPage.InlineBytes(record);
        var (level, parent) = Descend(_snapshot, set, _id, _page);
        Place = new SetPlace(LeafPage.Key(record).ToArray(), set.Ids, set.Depth, level, parent);
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
