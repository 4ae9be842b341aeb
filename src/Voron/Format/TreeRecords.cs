using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The location of the bytes of a value. Two bits of a leaf record.</summary>
internal enum ValueKind
{
    /// <summary>After the key, in the leaf.</summary>
    Inline = 0,

    /// <summary>In an extent of overflow pages; the record holds an <see cref="OverflowReference"/>.</summary>
    Overflow = 1,

    /// <summary>In an extent without page headers; the record holds a <see cref="LargeExtentReference"/>.</summary>
    LargeExtent = 2,
}

/// <summary>The start of a record in a leaf; the key follows, and the value or the reference to it follows the key.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size, Pack = 1)]
internal struct LeafRecordHeader
{
    public const int Size = 4;

    /// <summary>Bits 0 to 13 of <see cref="KeyLengthAndKind"/>.</summary>
    public const int KeyLengthMask = 0x3FFF;

    /// <summary>The bit in <see cref="KeyLengthAndKind"/> at which the <see cref="ValueKind"/> starts.</summary>
    public const int KindShift = 14;

    [FieldOffset(0)]
    public ushort KeyLengthAndKind;

    /// <summary>The number of bytes after the key: the value itself, or the reference.</summary>
    [FieldOffset(2)]
    public ushort InlineLength;
}

/// <summary>The start of a record in a branch; the separator follows. Record 0 of a branch has an empty separator.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size, Pack = 1)]
internal struct BranchRecordHeader
{
    public const int Size = 10;

    [FieldOffset(0)]
    public ushort KeyLength;

    /// <summary>The page that holds the keys from this separator up to, but not including, the next one.</summary>
    [FieldOffset(2)]
    public long Child;
}

/// <summary>A leaf's reference to a value in overflow pages.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size, Pack = 1)]
internal struct OverflowReference
{
    public const int Size = 16;

    [FieldOffset(0)]
    public long FirstPage;

    /// <summary>The length of the value in bytes; also in the header of the extent.</summary>
    [FieldOffset(8)]
    public long Length;
}

/// <summary>A leaf's reference to a value in an extent whose pages, the first included, have no header.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size, Pack = 1)]
internal struct LargeExtentReference
{
    public const int Size = 24;

    /// <summary>The number of bytes of a value that share a checksum.</summary>
    public const int ChunkBytes = 64 << 10;

    [FieldOffset(0)]
    public long FirstPage;

    /// <summary>Length of the value in bytes.</summary>
    [FieldOffset(8)]
    public long Length;

    /// <summary>
    /// The checksum of a value of one chunk; otherwise the first page of the overflow extent that holds the checksums of the chunks,
    /// because the value's own pages have no place for them; 0 if there is none.
    /// </summary>
    [FieldOffset(16)]
    public ulong Checksums;

    /// <summary>True if the value has at most one chunk, and therefore its only checksum is here.</summary>
    public readonly bool IsOneChunk => Length <= ChunkBytes;

    /// <summary>The first page of the extent of checksums; 0 if there is none.</summary>
    public readonly long ChecksumPage => IsOneChunk ? 0 : (long)Checksums;
}
