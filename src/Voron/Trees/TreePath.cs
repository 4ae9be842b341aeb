using Voron.Primitives;

namespace Voron.Trees;

/// <summary>The way from the root to a leaf: at each level the page, and which of its children comes next.</summary>
internal unsafe struct TreePath
{
    private fixed long _pages[TreeLimits.MaxDepth];
    private fixed ushort _indexes[TreeLimits.MaxDepth];

    /// <summary>The level of the leaf; the root is at level 0.</summary>
    public int LeafLevel;

    /// <summary>Whether the way took the last child everywhere.</summary>
    public bool OnRightEdge;

    public readonly PageNumber Page(int level) => new(_pages[level]);

    public readonly int Index(int level) => _indexes[level];

    /// <summary>Called where pages are about to be divided or joined: in a circle, a page would be given to itself.</summary>
    /// <exception cref="CorruptionException">The path comes by a page twice, or by the one given.</exception>
    public readonly void CheckDistinct(PageNumber other)
    {
        for (var level = 0; level <= LeafLevel; level++)
        {
            var page = Page(level);
            if (page == other)
                TreeErrors.ThrowShared(page);
            for (var above = 0; above < level; above++)
            {
                if (page == Page(above))
                    TreeErrors.ThrowShared(page);
            }
        }
    }

    public void Set(int level, PageNumber page, int index)
    {
        _pages[level] = page.Value;
        _indexes[level] = (ushort)index;
    }
}
