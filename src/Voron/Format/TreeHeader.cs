using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The kind of a tree's entries. Stored in the <see cref="TreeHeader"/>; a tree never changes its kind.</summary>
internal enum TreeKind : byte
{
    /// <summary>Keys and values of any bytes.</summary>
    Plain = 0,

    /// <summary>A sorted set of byte strings under each key.</summary>
    ValueSets = 1,

    /// <summary>A sorted set of 64-bit ids under each key.</summary>
    IdSets = 2,

    /// <summary>64-bit keys and values of a fixed size.</summary>
    FixedSize = 3,
}

/// <summary>The catalog's entry for a tree: the value stored under the tree's name.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct TreeHeader
{
    public const int Size = 64;

    /// <summary>The flag of a tree whose changes are recorded in a feed.</summary>
    public const byte RecordedFlag = 1;

    /// <summary>The flag of a tree whose new values are compressed.</summary>
    public const byte CompressedFlag = 2;

    /// <summary>The root page; 0 if the tree has no page.</summary>
    [FieldOffset(0)]
    public long RootPage;

    /// <summary>The number of entries.</summary>
    [FieldOffset(8)]
    public long EntryCount;

    [FieldOffset(16)]
    public long LeafPages;

    [FieldOffset(24)]
    public long BranchPages;

    /// <summary>The number of pages in overflow extents, including inner pages.</summary>
    [FieldOffset(32)]
    public long OverflowPages;

    /// <summary>The number of levels: 0 without a page, 1 when the root is a leaf.</summary>
    [FieldOffset(40)]
    public ushort Depth;

    /// <summary>The kind of the tree's entries.</summary>
    [FieldOffset(42)]
    public TreeKind Kind;

    /// <summary><see cref="RecordedFlag"/> and <see cref="CompressedFlag"/>.</summary>
    [FieldOffset(43)]
    public byte Flags;

    /// <summary>A number that no other tree of the environment has had; unchanged by renaming.</summary>
    [FieldOffset(44)]
    public uint TreeId;

    /// <summary>The number of pages of the structures under the keys; 0 in a tree without such structures.</summary>
    [FieldOffset(48)]
    public long NestedPages;

    /// <summary>In a tree of sets, the number of values in all sets; in a fixed-size tree, the number of bytes of each value; otherwise 0.</summary>
    [FieldOffset(56)]
    public long NestedValues;

    /// <summary>The number of pages of the whole tree.</summary>
    public readonly long Pages => LeafPages + BranchPages + OverflowPages + NestedPages;
}
