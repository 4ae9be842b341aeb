using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The catalog's entry for a tree: the value stored under the tree's name.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct TreeHeader
{
    public const int Size = 64;

    /// <summary>The root page; 0 if the tree has no page.</summary>
    [FieldOffset(0)]
    public long RootPage;

    /// <summary>Number of entries.</summary>
    [FieldOffset(8)]
    public long EntryCount;

    [FieldOffset(16)]
    public long LeafPages;

    [FieldOffset(24)]
    public long BranchPages;

    /// <summary>The number of pages in overflow extents, inner pages included.</summary>
    [FieldOffset(32)]
    public long OverflowPages;

    /// <summary>The number of levels: 0 without a page, 1 when the root is a leaf.</summary>
    [FieldOffset(40)]
    public ushort Depth;

    /// <summary>Reserved for kinds of trees; zero.</summary>
    [FieldOffset(42)]
    public ushort Flags;

    /// <summary>A number that no other tree of the environment has had; unchanged by renaming.</summary>
    [FieldOffset(44)]
    public uint TreeId;

    // 48 to 63: zero.
}
