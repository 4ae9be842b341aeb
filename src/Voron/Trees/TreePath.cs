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

    public void Set(int level, PageNumber page, int index)
    {
        _pages[level] = page.Value;
        _indexes[level] = (ushort)index;
    }
}
