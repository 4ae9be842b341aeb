using Voron.Format;
using Voron.Primitives;
using Voron.Snapshots;
using Voron.Trees;
using Voron.Trees.Kinds;

namespace Voron.Maintenance;

/// <summary>Finds the tree that a page names by its id, and the path from the root of the tree to the page, by a key of the page.</summary>
internal static unsafe class TreePlaceFinder
{
    /// <summary>Returns the place; null if the page names no tree, or the tree does not exist.</summary>
    /// <param name="snapshot">The pages.</param>
    /// <param name="header">The header of the page.</param>
    /// <param name="page">The number of the page.</param>
    /// <param name="entries">The entries of the page.</param>
    public static TreePlace? Find(SnapshotPages snapshot, in PageHeader header, long page, IReadOnlyList<PageEntryDescription> entries)
    {
        if (header.TreeMark == 0 || FindTree(snapshot, header.TreeMark - 1) is not var (name, tree))
            return null;

        // The keys of the tree do not lead to the pages of its sets.
        if (header.Kind is PageKind.Ids or PageKind.Array && header.OwnerHash != 0)
            return new TreePlace(name, tree.Depth, -1, 0);

        // The first entry of a branch has no key, or the lowest possible one. The keys of all others lead through the page.
        var key = entries.Skip(1).Concat(entries).FirstOrDefault(entry => entry.Fault == null && entry.Key.Length > 0)?.Key;
        var (level, parent) = page == tree.RootPage ? (tree.Depth - 1, 0) : key == null ? (-1, 0) : Descend(snapshot, tree, key, page);
        return new TreePlace(name, tree.Depth, level, parent);
    }

    /// <summary>Returns the tree with an id, and its name; null if there is none.</summary>
    public static (string? Name, TreeHeader Tree)? FindTree(SnapshotPages snapshot, uint id)
    {
        if (snapshot.State.Catalog.TreeId == id)
            return (null, snapshot.State.Catalog);
        var cursor = new TreeCursor();
        try
        {
            cursor.Open(new TreeState(snapshot.State.Catalog), snapshot, canChange: false);
            for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
            {
                var tree = Catalog.ToHeader(cursor.Key, cursor.Value, snapshot.PageCount, snapshot.PageSize, snapshot.FilePath);
                if (tree.TreeId == id)
                    return (Catalog.ShownName(cursor.Key), tree);
            }
        }
        catch (VoronException)
        {
            // The catalog is damaged.
        }
        finally
        {
            cursor.Close();
        }

        return null;
    }

    private static (int Level, long Parent) Descend(SnapshotPages snapshot, in TreeHeader tree, byte[] key, long sought)
    {
        var (page, parent) = (tree.RootPage, 0L);
        try
        {
            var form = TreeKinds.Of(tree.Kind).Pages;
            for (var level = tree.Depth - 1; level >= 0; level--)
            {
                if (page == sought)
                    return (level, parent);
                if (level == 0)
                    break;
                parent = page;
                var branch = form.ReadBranch(snapshot, new PageNumber(page));
                page = form.Child(branch, snapshot.PageSize, form.FindChild(branch, snapshot.PageSize, key)).Value;
            }
        }
        catch (VoronException)
        {
            // A page above is damaged.
        }

        return (-1, 0);
    }
}
