using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees.FixedSize;

/// <summary>Finds the leaves of a fixed-size tree: by a key, at an edge, or next to each other.</summary>
internal static unsafe class FixedSizePath
{
    private const int PrefetchBytes = 4096;

    /// <summary>Descends to the leaf that contains the key or would receive it, and returns that leaf. The tree must have a root.</summary>
    /// <exception cref="CorruptionException">A page on the path is damaged.</exception>
    public static byte* Descend(TreeState state, PageReader reader, long key, ref TreePath path)
    {
        state.CheckDepth(reader);
        ref readonly var shape = ref state.Shape(reader.PageSize);
        var page = state.Root;
        var last = state.Depth - 1;
        var edge = true;
        for (var level = 0; level < last; level++)
        {
            var branch = FixedSizePages.ReadBranch(reader, page);
            var index = ArrayPage.FindChild(branch, shape.Branch, key);
            edge &= index == ArrayPage.Count(branch) - 1;
            path.Set(level, page, index);
            page = ArrayPage.Child(branch, shape.Branch, index);
        }

        path.Set(last, page, 0);
        path.LeafLevel = last;
        path.OnRightEdge = edge;
        return FixedSizePages.ReadLeaf(reader, page, shape.Leaf);
    }

    /// <summary>Like <see cref="Descend"/>, but descends to the first or the last leaf.</summary>
    public static byte* DescendToEdge(TreeState state, PageReader reader, bool first, ref TreePath path)
    {
        state.CheckDepth(reader);
        path.LeafLevel = state.Depth - 1;
        path.OnRightEdge = !first;
        return DescendBelow(state, reader, 0, state.Root, first, ref path);
    }

    /// <summary>Steps to the next or the previous leaf and returns it; if there is none, returns null and keeps the path.</summary>
    /// <param name="state">The tree, which must not have changed since the path was found.</param>
    /// <param name="reader">The pages of the tree.</param>
    /// <param name="step">1 for the next leaf, -1 for the previous one.</param>
    /// <param name="path">The path to the leaf. If the step fails, it is unusable.</param>
    /// <exception cref="CorruptionException">A page on the path is damaged.</exception>
    public static byte* Step(TreeState state, PageReader reader, int step, ref TreePath path)
    {
        ref readonly var shape = ref state.Shape(reader.PageSize);
        for (var level = path.LeafLevel - 1; level >= 0; level--)
        {
            var page = path.Page(level);
            var branch = FixedSizePages.ReadBranch(reader, page);
            var index = path.Index(level) + step;
            if ((uint)index >= (uint)ArrayPage.Count(branch))
                continue;

            path.Set(level, page, index);
            var leaf = DescendBelow(state, reader, level + 1, ArrayPage.Child(branch, shape.Branch, index), first: step > 0, ref path);
            PrefetchNeighbour(reader, shape, step, path);
            return leaf;
        }

        return null;
    }

    private static byte* DescendBelow(TreeState state, PageReader reader, int level, PageNumber page, bool first, ref TreePath path)
    {
        ref readonly var shape = ref state.Shape(reader.PageSize);
        for (; level < path.LeafLevel; level++)
        {
            var branch = FixedSizePages.ReadBranch(reader, page);
            var index = first ? 0 : ArrayPage.Count(branch) - 1;
            path.Set(level, page, index);
            page = ArrayPage.Child(branch, shape.Branch, index);
        }

        path.Set(level, page, 0);
        return FixedSizePages.ReadLeaf(reader, page, shape.Leaf);
    }

    /// <summary>Prefetches the next leaf of a scan, so that it arrives while the current one is read.</summary>
    private static void PrefetchNeighbour(PageReader reader, in ArrayShape shape, int step, in TreePath path)
    {
        var level = path.LeafLevel - 1;
        var branch = FixedSizePages.ReadBranch(reader, path.Page(level));
        var index = path.Index(level) + step;
        if ((uint)index >= (uint)ArrayPage.Count(branch))
            return;

        var next = ArrayPage.Child(branch, shape.Branch, index);
        if (next.Value == path.Page(path.LeafLevel).Value + step)
            reader.ScanAhead(next, step);
        var page = reader.Peek(next);
        if (page != null)
            CacheLines.PrefetchRange(page, PrefetchBytes);
    }
}
