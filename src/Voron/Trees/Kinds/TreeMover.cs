using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Trees.IdSets;
using Voron.Trees.Pages;

namespace Voron.Trees.Kinds;

/// <summary>
/// Moves the pages of a tree for a compaction, and updates the reference to each: in a parent, the header of the tree, or the record of a value.
/// </summary>
/// <remarks>
/// Pages are found by key from the root down, so changes to the tree since the key was chosen do not matter. Moving changes neither keys nor values,
/// and the tree is consistent after each moved page: a call can stop after any page, and be repeated.
/// </remarks>
internal static unsafe class TreeMover
{
    /// <summary>Moves the pages on the path to a key, and the siblings of its leaf: all children of the same branch.</summary>
    /// <returns>False if a page could not be moved. That page, and those after it, have not been moved.</returns>
    public static bool TryMovePages(PageWriter writer, TreeState state, ReadOnlySpan<byte> key, IPageMover mover)
    {
        if (state.Root.IsNone)
            return true;
        state.PrepareForChange();
        if (!TryMoveRoot(writer, state, mover))
            return false;
        if (state.Depth == 1)
            return true;
        var form = TreeKinds.Of(state.Kind).Pages;
        form.Descend(state, writer, key, out var path);
        path.CheckDistinct(writer, PageNumber.None);
        for (var level = 1; level < path.LeafLevel; level++)
        {
            if (!mover.ShouldMove(path.Page(level), 1))
                continue;
            if (!mover.TryMove(path.Page(level), out var moved))
                return false;
            SetChild(writer, form, mover, path.Page(level - 1), path.Index(level - 1), moved);
            path.Set(level, moved, path.Index(level));
        }

        return TryMoveLeaves(writer, state, path.Page(path.LeafLevel - 1), mover);
    }

    /// <summary>Moves the overflow extent of a key's value, or the pages of its set, if they should be moved.</summary>
    /// <returns>False if the extent, or a page, could not be moved.</returns>
    public static bool TryMoveExtent(PageWriter writer, TreeState state, ReadOnlySpan<byte> key, IPageMover mover)
    {
        fixed (byte* bytes = key)
            return TryMoveExtent(writer, state, new SearchKey(bytes, key.Length), mover);
    }

    private static bool TryMoveExtent(PageWriter writer, TreeState state, in SearchKey key, IPageMover mover)
    {
        if (state.Root.IsNone)
            return true;
        TreeReader.Descend(state, writer, key, out var path);
        var number = path.Page(path.LeafLevel);
        var index = LeafPage.Search(TreePages.ReadLeaf(writer, number), key);
        if (index < 0)
            return true;
        var record = SlottedPage.Record(writer.Read(number), index);
        if (IdTreeReader.IsSetWithPages(record))
            return IdSetMover.TryMove(writer, state, number, index, mover);
        if (LeafPage.Overflow(record) == null)
            return true;
        var reference = *LeafPage.Overflow(record);
        var first = new PageNumber(reference.FirstPage);
        if (!mover.ShouldMove(first, TreeLimits.OverflowPages(writer.PageSize, reference.Length)))
            return true;
        TreePages.ReadExtent(writer, first, reference.Length);
        state.PrepareForChange();
        if (!mover.TryMoveExtent(first, out var moved))
            return false;
        mover.Verify(number);
        var leaf = writer.Modify(number);
        var place = LeafPage.Overflow(SlottedPage.Record(leaf.Bytes, index));
        place->FirstPage = moved.Value;
        leaf.MarkDirty((int)((byte*)place - leaf.Bytes), OverflowReference.Size);
        return true;
    }

    private static bool TryMoveRoot(PageWriter writer, TreeState state, IPageMover mover)
    {
        if (!mover.ShouldMove(state.Root, 1))
            return true;
        state.CheckDepth(writer);
        var form = TreeKinds.Of(state.Kind).Pages;
        _ = state.Depth == 1 ? form.ReadLeaf(writer, state, state.Root) : form.ReadBranch(writer, state.Root);
        if (!mover.TryMove(state.Root, out var root))
            return false;
        state.Root = root;
        state.RightmostLeaf = PageNumber.None;
        state.Changed = true;
        return true;
    }

    private static bool TryMoveLeaves(PageWriter writer, TreeState state, PageNumber parent, IPageMover mover)
    {
        var form = TreeKinds.Of(state.Kind).Pages;
        var branch = form.ReadBranch(writer, parent);
        for (var index = 0; index < PageForm.Count(branch); index++)
        {
            var leaf = form.Child(branch, writer.PageSize, index);
            if (!mover.ShouldMove(leaf, 1))
                continue;
            form.ReadLeaf(writer, state, leaf);
            if (!mover.TryMove(leaf, out var moved))
                return false;
            state.RightmostLeaf = PageNumber.None;
            SetChild(writer, form, mover, parent, index, PlantedFault.KeepOldChild ? leaf : moved);

            // The branch may have been copied for the change.
            branch = form.ReadBranch(writer, parent);
        }

        return true;
    }

    private static void SetChild(PageWriter writer, PageForm form, IPageMover mover, PageNumber parent, int index, PageNumber child)
    {
        mover.Verify(parent);
        form.SetChild(writer.Modify(parent), writer.PageSize, index, child);
    }
}
