using Voron.Format;
using Voron.Snapshots;
using Voron.Trees;

namespace Voron.Dictionaries;

/// <summary>Finds trees whose values are, or were, compressed.</summary>
internal static class CompressedTrees
{
    /// <summary>Finds a tree by its id, which is not that of a dropped tree.</summary>
    /// <param name="snapshot">The snapshot.</param>
    /// <param name="treeId">The id.</param>
    /// <param name="tree">The header of the tree.</param>
    /// <param name="settings">How its values are compressed.</param>
    /// <returns>False if the tree does not exist, or its values were never compressed.</returns>
    /// <exception cref="CorruptionException">The settings are damaged.</exception>
    public static bool TryFind(SnapshotPages snapshot, uint treeId, out TreeHeader tree, out CompressionSettings settings)
    {
        tree = default;
        settings = default;
        if (!DictionaryTree.TryOpen(snapshot.State.Catalog, snapshot, treeId, out var dictionaries))
            return false;
        settings = DictionaryTree.ReadSettings(dictionaries, snapshot, treeId);
        var cursor = new TreeCursor();
        cursor.Open(new TreeState(snapshot.State.Catalog), snapshot, canChange: false);
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
        {
            tree = Catalog.ToHeader(cursor.Key, cursor.Value, snapshot.PageCount, snapshot.PageSize, snapshot.FilePath);
            if (tree.TreeId == treeId && !SystemTree.IsDropped(cursor.Key))
                break;
        }

        cursor.Close();
        return tree.TreeId == treeId;
    }

    /// <summary>Returns whether a tree has a dictionary.</summary>
    public static bool HasDictionary(SnapshotPages snapshot, uint treeId, int number) =>
        DictionaryTree.TryOpen(snapshot.State.Catalog, snapshot, treeId, out var dictionaries)
            && DictionaryTree.Contains(dictionaries, snapshot, number);
}
