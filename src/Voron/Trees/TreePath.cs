using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>The path from the root to a leaf: at each level, the page and the index of the child on the path.</summary>
internal unsafe struct TreePath
{
    private fixed long _pages[TreeLimits.MaxDepth];
    private fixed ushort _indexes[TreeLimits.MaxDepth];

    /// <summary>The level of the leaf; the root is at level 0.</summary>
    public int LeafLevel;

    /// <summary>True if the path takes the last child at every level.</summary>
    public bool OnRightEdge;

    public readonly PageNumber Page(int level) => new(_pages[level]);

    public readonly int Index(int level) => _indexes[level];

    /// <summary>
    /// Checks that all pages of the path are distinct. Called before pages are split or merged: in a cycle, a page would be split or
    /// merged into itself.
    /// </summary>
    /// <exception cref="CorruptionException">The path contains a page twice, or contains <paramref name="other"/>.</exception>
    public readonly void CheckDistinct(PageReader reader, PageNumber other)
    {
        for (var level = 0; level <= LeafLevel; level++)
        {
            var page = Page(level);
            if (page == other)
                TreeErrors.ThrowShared(reader, page);
            for (var above = 0; above < level; above++)
            {
                if (page == Page(above))
                    TreeErrors.ThrowShared(reader, page);
            }
        }
    }

    public void Set(int level, PageNumber page, int index)
    {
        _pages[level] = page.Value;
        _indexes[level] = (ushort)index;
    }
}
