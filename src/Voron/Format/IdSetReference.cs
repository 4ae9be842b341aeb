using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>A leaf's reference to a set of ids that has pages of its own.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size, Pack = 1)]
internal struct IdSetReference
{
    public const int Size = 24;

    /// <summary>The maximum number of levels of a set, which have room for more pages than a file can have.</summary>
    public const int MaxDepth = 8;

    [FieldOffset(0)]
    public ExtendedForm Form;

    /// <summary>The number of levels: 1 if the root is an id page.</summary>
    [FieldOffset(1)]
    public byte Depth;

    // 2 and 3: zero.

    /// <summary>The root: an id page, or an array page.</summary>
    [FieldOffset(4)]
    public uint Root;

    /// <summary>The number of ids.</summary>
    [FieldOffset(8)]
    public long Ids;

    /// <summary>The number of id pages and array pages.</summary>
    [FieldOffset(16)]
    public uint Pages;

    /// <summary>The id page with the highest ids, to which new ones are usually added.</summary>
    [FieldOffset(20)]
    public uint LastPage;
}
