using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees.FixedSize;

/// <summary>Splits full pages of a fixed-size tree.</summary>
/// <remarks>Entries that remain on the left page do not move: that page only drops the others, which changes no bytes but its counts.</remarks>
internal static unsafe class FixedSizeSplitter
{
    /// <summary>Splits a full leaf, and returns the page with room for a new entry.</summary>
    /// <param name="writer">The pages of the tree.</param>
    /// <param name="state">The tree.</param>
    /// <param name="path">The whole path to the leaf.</param>
    /// <param name="leaf">The leaf.</param>
    /// <param name="key">The key of the new entry.</param>
    /// <param name="index">The index of the new entry; receives its index in the returned page.</param>
    public static WritablePage SplitLeaf(PageWriter writer, TreeState state, in TreePath path, in WritablePage leaf, long key, ref int index)
    {
        path.CheckDistinct(writer, PageNumber.None);
        ref readonly var layout = ref state.Shape(writer.PageSize).Leaf;
        var count = ArrayPage.Count(leaf.Bytes);
        var isAppended = index == count && path.OnRightEdge;
        var at = isAppended ? count : count / 2;
        var right = FixedSizePages.Allocate(writer, state, isBranch: false, path.Page(path.LeafLevel));
        var rightNumber = new PageNumber(right.Header->PageNumber);
        state.LeafPages++;
        state.Changed = true;
        state.RightmostLeaf = isAppended ? rightNumber : PageNumber.None;

        var separator = isAppended ? key : ArrayPage.Key(leaf.Bytes, layout, at);
        ArrayPage.Append(leaf.Bytes, layout, at, count, right);
        ArrayPage.Truncate(leaf, layout, at);
        InsertChild(writer, state, path, path.LeafLevel - 1, new NewChild(separator, rightNumber));
        if (index <= at && !isAppended)
            return leaf;

        index -= at;
        return right;
    }

    /// <summary>Adds a child to a branch, directly after the child on the path.</summary>
    private static void InsertChild(PageWriter writer, TreeState state, in TreePath path, int level, in NewChild child)
    {
        if (level < 0)
        {
            GrowRoot(writer, state, child);
            return;
        }

        ref readonly var layout = ref state.Shape(writer.PageSize).Branch;
        var branch = writer.Modify(path.Page(level));
        var index = path.Index(level) + 1;
        if (ArrayPage.IsFull(branch.Bytes, layout))
            SplitBranch(writer, state, path, level, branch, child);
        else
            ArrayPage.InsertChild(branch, layout, index, child.Separator, child.Page);
    }

    private static void SplitBranch(
        PageWriter writer, TreeState state, in TreePath path, int level, in WritablePage left, in NewChild child)
    {
        ref readonly var layout = ref state.Shape(writer.PageSize).Branch;
        var index = path.Index(level) + 1;
        var count = ArrayPage.Count(left.Bytes);
        var isAppended = index == count && path.OnRightEdge;
        var at = isAppended ? count : count / 2;
        var right = FixedSizePages.Allocate(writer, state, isBranch: true, path.Page(level));
        var rightNumber = new PageNumber(right.Header->PageNumber);
        state.BranchPages++;
        state.Changed = true;

        // The separator of the first child on the right moves up to the parent.
        var promoted = child.Separator;
        if (isAppended)
        {
            ArrayPage.InsertChild(right, layout, 0, ArrayLayout.FirstKey, child.Page);
        }
        else
        {
            promoted = ArrayPage.Key(left.Bytes, layout, at);
            ArrayPage.Append(left.Bytes, layout, at, count, right);
            ArrayPage.SetKey(right, layout, 0, ArrayLayout.FirstKey);
            ArrayPage.Truncate(left, layout, at);
            if (index <= at)
                ArrayPage.InsertChild(left, layout, index, child.Separator, child.Page);
            else
                ArrayPage.InsertChild(right, layout, index - at, child.Separator, child.Page);
        }

        InsertChild(writer, state, path, level - 1, new NewChild(promoted, rightNumber));
    }

    private static void GrowRoot(PageWriter writer, TreeState state, in NewChild child)
    {
        if (state.Depth >= TreeLimits.MaxDepth)
            TreeErrors.ThrowDepth(writer, state.Depth + 1);

        ref readonly var layout = ref state.Shape(writer.PageSize).Branch;
        var root = FixedSizePages.Allocate(writer, state, isBranch: true, state.Root);
        ArrayPage.InsertChild(root, layout, 0, ArrayLayout.FirstKey, state.Root);
        ArrayPage.InsertChild(root, layout, 1, child.Separator, child.Page);
        state.Root = new PageNumber(root.Header->PageNumber);
        state.BranchPages++;
        state.Depth++;
        state.Changed = true;
    }

    /// <summary>A page to be added to a branch, with the lowest key that it can contain.</summary>
    private readonly struct NewChild(long separator, PageNumber page)
    {
        public readonly long Separator = separator;
        public readonly PageNumber Page = page;
    }
}
