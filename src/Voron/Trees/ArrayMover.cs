using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Trees.Arrays;

namespace Voron.Trees;

/// <summary>
/// Finds and moves the pages of a fixed-size tree for a compaction: the part of <see cref="TreeTail"/> and <see cref="TreeMover"/> for such trees.
/// </summary>
/// <remarks>A compaction keeps the keys of all trees as bytes: <see cref="ArrayKey"/>.</remarks>
internal static unsafe class ArrayMover
{
    /// <summary>Looks at the branch above the leaf of a key, and returns a key of the next such branch.</summary>
    /// <inheritdoc cref="TreeTail.Look"/>
    public static byte[]? Look(TreeState state, PageReader reader, long tailStart, ReadOnlySpan<byte> key, out int pages)
    {
        pages = 0;
        ref readonly var layout = ref state.Shape(reader.PageSize).Branch;
        var path = default(TreePath);
        ArrayPath.Descend(state, reader, ArrayKey.FromBytes(key), ref path);
        for (var level = 0; level < Math.Max(1, path.LeafLevel); level++)
            Count(reader, path.Page(level), tailStart, ref pages);
        if (path.LeafLevel == 0)
            return null;
        var branch = ArrayPages.ReadBranch(reader, path.Page(path.LeafLevel - 1));
        for (var index = 0; index < ArrayPage.Count(branch); index++)
            Count(reader, ArrayPage.Child(branch, layout, index), tailStart, ref pages);
        return NextBranch(state, reader, path);
    }

    /// <summary>Moves the pages on the path to a key below the root, and all leaves next to that of the key.</summary>
    /// <inheritdoc cref="TreeMover.TryMovePages(PageWriter, TreeState, ReadOnlySpan{byte}, IPageMover)"/>
    public static bool TryMovePages(PageWriter writer, TreeState state, ReadOnlySpan<byte> key, IPageMover mover)
    {
        var path = default(TreePath);
        ArrayPath.Descend(state, writer, ArrayKey.FromBytes(key), ref path);
        path.CheckDistinct(writer, PageNumber.None);
        for (var level = 1; level < path.LeafLevel; level++)
        {
            if (!mover.ShouldMove(path.Page(level), 1))
                continue;
            if (!mover.TryMove(path.Page(level), out var moved))
                return false;
            SetChild(writer, state, mover, path.Page(level - 1), path.Index(level - 1), moved);
            path.Set(level, moved, path.Index(level));
        }

        return TryMoveLeaves(writer, state, path.Page(path.LeafLevel - 1), mover);
    }

    private static bool TryMoveLeaves(PageWriter writer, TreeState state, PageNumber parent, IPageMover mover)
    {
        ref readonly var shape = ref state.Shape(writer.PageSize);
        var branch = ArrayPages.ReadBranch(writer, parent);
        for (var index = 0; index < ArrayPage.Count(branch); index++)
        {
            var leaf = ArrayPage.Child(branch, shape.Branch, index);
            if (!mover.ShouldMove(leaf, 1))
                continue;
            ArrayPages.ReadLeaf(writer, leaf, shape.Leaf);
            if (!mover.TryMove(leaf, out var moved))
                return false;
            state.RightmostLeaf = PageNumber.None;
            SetChild(writer, state, mover, parent, index, moved);

            // The branch may have been copied for the change.
            branch = ArrayPages.ReadBranch(writer, parent);
        }

        return true;
    }

    private static void SetChild(PageWriter writer, TreeState state, IPageMover mover, PageNumber parent, int index, PageNumber child)
    {
        mover.Verify(parent);
        if (!PlantedFault.KeepOldChild)
            ArrayPage.SetChild(writer.Modify(parent), state.Shape(writer.PageSize).Branch, index, child);
    }

    private static void Count(PageReader reader, PageNumber page, long tailStart, ref int pages)
    {
        if (page.Value < tailStart)
            return;
        pages++;
        reader.Read(page);
    }

    // The branch above the next leaf to the right begins at the lowest separator to the right of the path, above the branch itself.
    private static byte[]? NextBranch(TreeState state, PageReader reader, in TreePath path)
    {
        ref readonly var layout = ref state.Shape(reader.PageSize).Branch;
        for (var level = path.LeafLevel - 2; level >= 0; level--)
        {
            var branch = ArrayPages.ReadBranch(reader, path.Page(level));
            var next = path.Index(level) + 1;
            if (next < ArrayPage.Count(branch))
                return ArrayKey.ToBytes(ArrayPage.Key(branch, layout, next));
        }

        return null;
    }
}
