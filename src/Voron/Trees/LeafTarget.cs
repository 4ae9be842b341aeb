using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>The change of one leaf entry: the writable leaf, and the place of the key in it.</summary>
internal readonly unsafe ref struct LeafTarget
{
    public readonly PageWriter Pages;
    public readonly TreeState State;
    public readonly ref readonly WritablePage Leaf;

    /// <summary>The index of the entry with the key; if there is none, the complement of its insertion index.</summary>
    public readonly int Index;

    public readonly ref readonly SearchKey Key;

    /// <summary>The path to the leaf. Its leaf level is negative when the leaf was found without a descent.</summary>
    public readonly ref readonly TreePath Path;

    public LeafTarget(
        PageWriter pages, TreeState state, ref readonly WritablePage leaf, int index, ref readonly SearchKey key, ref readonly TreePath path)
    {
        Pages = pages;
        State = state;
        Leaf = ref leaf;
        Index = index;
        Key = ref key;
        Path = ref path;
    }

    /// <summary>The page number of the leaf.</summary>
    public PageNumber Number => new(Leaf.Header->PageNumber);
}
