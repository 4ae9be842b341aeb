using System.Diagnostics;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>Merges nearly empty pages, and frees empty ones.</summary>
internal static unsafe class PageMerger
{
    /// <summary>Called after the removal of an entry from the leaf at the end of the path.</summary>
    public static void AfterRemoval(PageWriter writer, TreeState state, in TreePath path, in WritablePage leaf)
    {
        if (SlottedPage.Count(leaf.Bytes) == 0)
            RemovePage(writer, state, path, path.LeafLevel);
        else if (path.LeafLevel > 0 && IsUnderfull(leaf.Bytes, writer.PageSize))
            TryMerge<LeafPage>(writer, state, path, path.LeafLevel);
    }

    /// <summary>
    /// Merges the pages on the path to a key at an edge of a range, after the entries of the range, and whole pages with them, have been removed.
    /// </summary>
    public static void AfterRangeRemoval(PageWriter writer, TreeState state, in SearchKey key)
    {
        CollapseRoot(writer, state);

        // Each merge changes the path and removes a page, so the loop ends.
        var merged = true;
        while (merged && state.Depth > 1)
        {
            TreeReader.Descend(state, writer, key, out var path);
            merged = TryMergeOnPath(writer, state, path);
        }
    }

    private static bool TryMergeOnPath(PageWriter writer, TreeState state, in TreePath path)
    {
        if (IsUnderfull(TreePages.ReadLeaf(writer, path.Page(path.LeafLevel)), writer.PageSize)
            && TryMerge<LeafPage>(writer, state, path, path.LeafLevel))
            return true;
        for (var level = path.LeafLevel - 1; level > 0; level--)
        {
            if (IsUnderfull(TreePages.ReadBranch(writer, path.Page(level)), writer.PageSize)
                && TryMerge<BranchPage>(writer, state, path, level))
                return true;
        }

        return false;
    }

    private static bool IsUnderfull(byte* page, int pageSize) =>
        SlottedPage.UsedBytes(page, pageSize) < SlottedPage.Capacity(pageSize) / 3;

    /// <summary>Returns whether a merged page would keep a quarter free; otherwise the next insert could split it again.</summary>
    private static bool FitsComfortably(int bytes, int pageSize) => bytes <= SlottedPage.Capacity(pageSize) / 4 * 3;

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
        var branch = writer.Modify(path.Page(level));
        SlottedPage.Remove<BranchPage>(branch, writer.PageSize, index);
        if (SlottedPage.Count(branch.Bytes) == 0)
        {
            RemovePage(writer, state, path, level);
            return;
        }

        if (index == 0)
            BranchPage.DropFirstKey(branch, writer.PageSize);

        if (level == 0)
            CollapseRoot(writer, state);
        else if (IsUnderfull(branch.Bytes, writer.PageSize))
            TryMerge<BranchPage>(writer, state, path, level);
    }

    private static void CollapseRoot(PageWriter writer, TreeState state)
    {
        while (state.Depth > 1)
        {
            var root = TreePages.ReadBranch(writer, state.Root);
            if (SlottedPage.Count(root) > 1)
                return;

            var child = BranchPage.Child(root, 0);
            writer.Free(state.Root);
            state.CountFreed(isLeaf: false);
            state.Root = child;
            state.Depth--;
        }
    }

    private static bool TryMerge<T>(PageWriter writer, TreeState state, in TreePath path, int level)
        where T : struct, IRecordLayout
    {
        var parent = TreePages.ReadBranch(writer, path.Page(level - 1));
        var index = path.Index(level - 1);
        if (index + 1 < SlottedPage.Count(parent) && TryMergePair<T>(writer, state, path, level, parent, index))
            return true;

        return index > 0 && TryMergePair<T>(writer, state, path, level, parent, index - 1);
    }

    /// <summary>Moves the entries of the child after <paramref name="index"/> into the child at that index, if they fit.</summary>
    private static bool TryMergePair<T>(PageWriter writer, TreeState state, in TreePath path, int level, byte* parent, int index)
        where T : struct, IRecordLayout
    {
        var pageSize = writer.PageSize;
        var isLeaf = typeof(T) == typeof(LeafPage);
        var leftNumber = BranchPage.Child(parent, index);
        var rightNumber = BranchPage.Child(parent, index + 1);
        var separator = SlottedPage.Record(parent, index + 1);
        var leftBytes = Read(writer, leftNumber, isLeaf);
        var rightBytes = Read(writer, rightNumber, isLeaf);
        var bytes = SlottedPage.UsedBytes(leftBytes, pageSize) + SlottedPage.UsedBytes(rightBytes, pageSize);
        if (!isLeaf)
            bytes += BranchPage.KeyLength(separator);
        if (!FitsComfortably(bytes, pageSize))
            return false;

        path.CheckDistinct(writer, leftNumber == path.Page(level) ? rightNumber : leftNumber);
        var left = writer.Modify(leftNumber);
        if (isLeaf)
        {
            SlottedPage.Append<T>(rightBytes, 0, SlottedPage.Count(rightBytes), left, pageSize);
        }
        else
        {
            // The first entry of the right page has no separator: that of the page moves down from the parent.
            var inserted = BranchPage.TryInsert(
                left,
                pageSize,
                SlottedPage.Count(left.Bytes),
                BranchPage.KeyBytes(separator),
                BranchPage.KeyLength(separator),
                BranchPage.Child(rightBytes, 0));
            Debug.Assert(inserted, "The left page must have room: the bytes were counted before the merge.");
            SlottedPage.Append<T>(rightBytes, 1, SlottedPage.Count(rightBytes), left, pageSize);
        }

        writer.Free(rightNumber);
        state.CountFreed(isLeaf);
        RemoveChild(writer, state, path, level - 1, index + 1);
        return true;
    }

    private static byte* Read(PageWriter writer, PageNumber page, bool isLeaf) =>
        isLeaf ? TreePages.ReadLeaf(writer, page) : TreePages.ReadBranch(writer, page);
}
