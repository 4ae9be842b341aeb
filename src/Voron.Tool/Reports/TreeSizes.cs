using Voron.Format;
using Voron.Tables;
using Voron.Trees;

namespace Voron.Tool.Reports;

/// <summary>A tree of a snapshot with its size.</summary>
/// <param name="Name">Its name; of a tree of a table, what it is.</param>
/// <param name="Size">Its size.</param>
/// <param name="Header">Its header.</param>
/// <param name="IsSystem">True for one of the engine's own, such as those of tables.</param>
internal sealed record TreeSize(string Name, TreeStatistics Size, TreeHeader Header, bool IsSystem)
{
    /// <summary>True for a tree of the change feeds.</summary>
    public bool IsOfFeeds { get; init; }
}

/// <summary>Lists all trees that take space.</summary>
internal static class TreeSizes
{
    /// <summary>Returns the named trees, and then those of the engine's own, without the dropped ones.</summary>
    /// <exception cref="CorruptionException">The catalog or the schema of a table is damaged.</exception>
    public static List<TreeSize> Of(ReadTransaction reading)
    {
        var trees = new List<TreeSize>();
        foreach (var name in reading.GetTreeNames())
        {
            var size = reading.GetTreeStatistics(name, out var header);
            trees.Add(new TreeSize(name, size, header, IsSystem: false));
        }

        var schemas = TableListing.ReadSchemas(reading);
        foreach (var (name, header) in reading.GetSystemTrees())
        {
            // Its pages are nested ones of the tree of value sets.
            if (SystemTree.IsLargeSets(name) && trees.Exists(tree => tree.Header.TreeId == SystemTree.LargeSetsOf(name)))
                continue;
            var size = new TreeStatistics(header.EntryCount, header.Depth, header.LeafPages, header.BranchPages, header.OverflowPages)
            {
                NestedPages = header.NestedPages,
            };
            trees.Add(new TreeSize(TableLabels.Of(name, schemas), size, header, IsSystem: true) { IsOfFeeds = SystemTree.IsOfFeeds(name) });
        }

        return trees;
    }
}
