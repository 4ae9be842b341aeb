using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees.FixedSize;

/// <summary>Merges nearly empty pages of a fixed-size tree, and frees empty ones.</summary>
internal static unsafe class FixedSizeMerger
{
    /// <summary>Called after the removal of an entry from the leaf at the end of the path.</summary>
    public static void AfterRemoval(PageWriter writer, TreeState state, in TreePath path, in WritablePage leaf)
    {
        if (ArrayPage.Count(leaf.Bytes) == 0)
            RemovePage(writer, state, path, path.LeafLevel);
        else if (path.LeafLevel > 0 && IsUnderfull(leaf.Bytes, state.Shape(writer.PageSize).Leaf.Capacity))
            TryMerge(writer, state, path, path.LeafLevel);
    }

    /// <summary>
    /// Merges the pages on the path to a key at an edge of a range, after the entries of the range, and whole pages with them, have been removed.
    /// </summary>
    public static void AfterRangeRemoval(PageWriter writer, TreeState state, long key)
    {
        CollapseRoot(writer, state);

        // Each merge changes the path and removes a page, so the loop ends.
        var path = default(TreePath);
        var merged = true;
        while (merged && state.Depth > 1)
        {
            FixedSizePath.Descend(state, writer, key, ref path);
            merged = TryMergeOnPath(writer, state, path);
        }
    }

    private static bool TryMergeOnPath(PageWriter writer, TreeState state, in TreePath path)
    {
        ref readonly var shape = ref state.Shape(writer.PageSize);
        for (var level = path.LeafLevel; level > 0; level--)
        {
            var isLeaf = level == path.LeafLevel;
            var page = FixedSizePages.Read(writer, path.Page(level), shape, isLeaf);
            if (IsUnderfull(page, isLeaf ? shape.Leaf.Capacity : shape.Branch.Capacity) && TryMerge(writer, state, path, level))
                return true;
        }

        return false;
    }

    private static bool IsUnderfull(byte* page, int capacity) => ArrayPage.Count(page) < capacity / 3;

    /// <summary>Returns whether a merged page would keep a quarter free; otherwise the next insert could split it again.</summary>
    private static bool FitsComfortably(int count, int capacity) => count <= capacity - capacity / 4;

    private static void RemovePage(PageWriter writer, TreeState state, in TreePath path, int level)
    {
        state.CountFreed(isLeaf: level == path.LeafLevel);
        writer.Free(path.Page(level));
        if (level > 0)
        {
            RemoveChild(writer, state, path, level - 1, path.Index(level - 1));
            return;
        }

        state.Root = PageNumber.None;
        state.Depth = 0;
    }

    private static void RemoveChild(PageWriter writer, TreeState state, in TreePath path, int level, int index)
    {
        ref readonly var layout = ref state.Shape(writer.PageSize).Branch;
        var branch = writer.Modify(path.Page(level));
        ArrayPage.Remove(branch, layout, index);
        if (ArrayPage.Count(branch.Bytes) == 0)
        {
            RemovePage(writer, state, path, level);
            return;
        }

        if (index == 0)
            ArrayPage.SetFirstKey(branch, layout);
        if (level == 0)
            CollapseRoot(writer, state);
        else if (IsUnderfull(branch.Bytes, layout.Capacity))
            TryMerge(writer, state, path, level);
    }

    private static void CollapseRoot(PageWriter writer, TreeState state)
    {
        ref readonly var layout = ref state.Shape(writer.PageSize).Branch;
        while (state.Depth > 1)
        {
            var root = FixedSizePages.ReadBranch(writer, state.Root);
            if (ArrayPage.Count(root) > 1)
                return;

            var child = ArrayPage.Child(root, layout, 0);
            writer.Free(state.Root);
            state.CountFreed(isLeaf: false);
            state.Root = child;
            state.Depth--;
        }
    }

    private static bool TryMerge(PageWriter writer, TreeState state, in TreePath path, int level)
    {
        var parent = FixedSizePages.ReadBranch(writer, path.Page(level - 1));
        var index = path.Index(level - 1);
        if (index + 1 < ArrayPage.Count(parent) && TryMergePair(writer, state, path, level, parent, index))
            return true;

        return index > 0 && TryMergePair(writer, state, path, level, parent, index - 1);
    }

    /// <summary>Moves the entries of the child after <paramref name="index"/> into the child at that index, if they fit.</summary>
    private static bool TryMergePair(PageWriter writer, TreeState state, in TreePath path, int level, byte* parent, int index)
    {
        ref readonly var shape = ref state.Shape(writer.PageSize);
        var isLeaf = level == path.LeafLevel;
        ref readonly var layout = ref isLeaf ? ref shape.Leaf : ref shape.Branch;
        var leftNumber = ArrayPage.Child(parent, shape.Branch, index);
        var rightNumber = ArrayPage.Child(parent, shape.Branch, index + 1);
        var separator = ArrayPage.Key(parent, shape.Branch, index + 1);
        var leftBytes = FixedSizePages.Read(writer, leftNumber, shape, isLeaf);
        var rightBytes = FixedSizePages.Read(writer, rightNumber, shape, isLeaf);
        var leftCount = ArrayPage.Count(leftBytes);
        if (!FitsComfortably(leftCount + ArrayPage.Count(rightBytes), layout.Capacity))
            return false;

        path.CheckDistinct(writer, leftNumber == path.Page(level) ? rightNumber : leftNumber);
        var left = writer.Modify(leftNumber);
        ArrayPage.Append(rightBytes, layout, 0, ArrayPage.Count(rightBytes), left);

        // The first child of the right page receives the separator of that page from the parent.
        if (!isLeaf)
            ArrayPage.SetKey(left, layout, leftCount, separator);
        writer.Free(rightNumber);
        state.CountFreed(isLeaf);
        RemoveChild(writer, state, path, level - 1, index + 1);
        return true;
    }
}
