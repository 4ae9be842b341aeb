using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>The branches between the root of a tree and the leaf of a cursor, each with the index of the child that leads to the leaf.</summary>
/// <remarks>A step or descent that fails leaves a path that leads nowhere: the cursor must descend from the root again.</remarks>
internal unsafe struct CursorPath()
{
    private const int PrefetchBytes = 4096;

    private readonly nint[] _branches = new nint[TreeLimits.MaxDepth];
    private readonly int[] _indexes = new int[TreeLimits.MaxDepth];
    private int _leafLevel;

    // The number of leaves that the cursor has moved since it last descended from the root; negative if it moved backwards.
    private long _distance;

    /// <summary>Descends from the root to the leaf that has the key or should have it, and returns the leaf.</summary>
    /// <param name="reader">The pages of the tree.</param>
    /// <param name="root">The root of the tree, which has one.</param>
    /// <param name="depth">The number of levels, which has been checked.</param>
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

    /// <summary>Does the same as <see cref="Descend"/> to the first or the last leaf.</summary>
    public byte* DescendToEdge(PageReader reader, PageNumber root, int depth, bool first)
    {
        _distance = 0;
        _leafLevel = depth - 1;
        return DescendBelow(reader, 0, root, first);
    }

    /// <summary>Steps to the next leaf, or to the previous one, and returns it; returns null when there is none, and stays.</summary>
    /// <param name="reader">The pages of the tree.</param>
    /// <param name="step">1 for the next leaf, -1 for the previous one.</param>
    /// <param name="leafPages">The number of leaves that the tree claims.</param>
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

    /// <summary>Counts the leaves passed, because a scan of a tree whose branches lead to each other would never end.</summary>
    private void CountLeaf(PageReader reader, int step, long leafPages)
    {
        _distance += step;
        if (Math.Abs(_distance) >= leafPages)
            TreeErrors.ThrowLeaves(reader, leafPages);
    }

    /// <summary>Prefetches the leaf that comes next in a scan, so that it arrives while the current one is read.</summary>
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
