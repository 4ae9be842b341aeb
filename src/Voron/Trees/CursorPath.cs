using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>The branches from the root of a tree to the leaf of a cursor, each with the index of the child on the path.</summary>
/// <remarks>A failed step or descent leaves an unusable path: the cursor must descend from the root again.</remarks>
internal unsafe struct CursorPath()
{
    private const int PrefetchBytes = 4096;

    private readonly nint[] _branches = new nint[TreeLimits.MaxDepth];
    private readonly int[] _indexes = new int[TreeLimits.MaxDepth];
    private int _leafLevel;

    // The number of leaves that the cursor has moved since it last descended from the root; negative if it moved backwards.
    private long _distance;

    /// <summary>Descends from the root to the leaf that contains the key or would receive it, and returns that leaf.</summary>
    /// <param name="reader">The pages of the tree.</param>
    /// <param name="root">The root page of the tree; never none.</param>
    /// <param name="depth">The number of levels, already checked.</param>
    /// <param name="key">The key.</param>
    /// <exception cref="CorruptionException">A page on the path is damaged.</exception>
    public byte* Descend(PageReader reader, PageNumber root, int depth, in SearchKey key)
    {
        _distance = 0;
        var page = root;
        var last = depth - 1;
        for (var level = 0; level < last; level++)
        {
            var branch = TreePages.ReadBranch(reader, page);
            var child = BranchPage.Search(branch, key);
            _branches[level] = (nint)branch;
            _indexes[level] = child;
            page = BranchPage.Child(branch, child);
        }

        var leaf = TreePages.ReadLeaf(reader, page);
        _leafLevel = last;
        return leaf;
    }

    /// <summary>Like <see cref="Descend"/>, but descends to the first or the last leaf.</summary>
    public byte* DescendToEdge(PageReader reader, PageNumber root, int depth, bool first)
    {
        _distance = 0;
        _leafLevel = depth - 1;
        return DescendBelow(reader, 0, root, first);
    }

    /// <summary>Steps to the next or the previous leaf and returns it; if there is none, returns null and keeps the path.</summary>
    /// <param name="reader">The pages of the tree.</param>
    /// <param name="step">1 for the next leaf, -1 for the previous one.</param>
    /// <param name="leafPages">The number of leaves claimed by the tree.</param>
    /// <exception cref="CorruptionException">A page on the path is damaged, or the tree has more leaves than it claims.</exception>
    public byte* Step(PageReader reader, int step, long leafPages)
    {
        for (var level = _leafLevel - 1; level >= 0; level--)
        {
            var branch = (byte*)_branches[level];
            var index = _indexes[level] + step;
            if ((uint)index >= (uint)SlottedPage.Count(branch))
                continue;

            _indexes[level] = index;
            CountLeaf(reader, step, leafPages);
            var leaf = DescendBelow(reader, level + 1, BranchPage.Child(branch, index), first: step > 0);
            PrefetchNeighbour(reader, step);
            return leaf;
        }

        return null;
    }

    /// <summary>Descends from a page at a level to the first or the last leaf below it.</summary>
    private readonly byte* DescendBelow(PageReader reader, int level, PageNumber page, bool first)
    {
        for (; level < _leafLevel; level++)
        {
            var branch = TreePages.ReadBranch(reader, page);
            var index = first ? 0 : SlottedPage.Count(branch) - 1;
            _branches[level] = (nint)branch;
            _indexes[level] = index;
            page = BranchPage.Child(branch, index);
        }

        return TreePages.ReadLeaf(reader, page);
    }

    /// <summary>Counts the leaves passed, because a scan of a tree whose branches form a cycle would never end.</summary>
    private void CountLeaf(PageReader reader, int step, long leafPages)
    {
        _distance += step;
        if (Math.Abs(_distance) >= leafPages)
            TreeErrors.ThrowLeaves(reader, leafPages);
    }

    /// <summary>Prefetches the next leaf of a scan, so that it arrives while the current one is read.</summary>
    private readonly void PrefetchNeighbour(PageReader reader, int step)
    {
        var level = _leafLevel - 1;
        var branch = (byte*)_branches[level];
        var index = _indexes[level] + step;
        if ((uint)index >= (uint)SlottedPage.Count(branch))
            return;

        var next = BranchPage.Child(branch, index);
        if (next.Value == BranchPage.Child(branch, _indexes[level]).Value + step)
            reader.ScanAhead(next, step);
        var page = reader.Peek(next);
        if (page == null)
            return;

        CacheLines.PrefetchRange(page, PrefetchBytes);
    }
}
