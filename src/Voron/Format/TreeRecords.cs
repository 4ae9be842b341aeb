using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>Where the bytes of a value are. Two bits of a leaf record.</summary>
internal enum ValueKind
{
    /// <summary>Behind the key, in the leaf.</summary>
    Inline = 0,

    /// <summary>In a run of overflow pages; the record holds an <see cref="OverflowReference"/>.</summary>
    Overflow = 1,

    /// <summary>In a run without page headers; the record holds a <see cref="LargeExtentReference"/>.</summary>
    LargeExtent = 2,
}

/// <summary>The start of a record in a leaf; the key follows, and the value or the reference to it follows the key.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size, Pack = 1)]
internal struct LeafRecordHeader
{
    public const int Size = 4;

    /// <summary>Bits 0 to 13 of <see cref="KeyLengthAndKind"/>.</summary>
    public const int KeyLengthMask = 0x3FFF;

    /// <summary>Where the <see cref="ValueKind"/> starts in <see cref="KeyLengthAndKind"/>.</summary>
    public const int KindShift = 14;

    [FieldOffset(0)]
    public ushort KeyLengthAndKind;

    /// <summary>Bytes behind the key: the value itself, or the reference.</summary>
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

    /// <summary>The page that holds the keys from this separator up to, not including, the next one.</summary>
    [FieldOffset(2)]
    public long Child;
}

/// <summary>What a leaf keeps of a value in overflow pages.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size, Pack = 1)]
internal struct OverflowReference
{
    public const int Size = 16;

    [FieldOffset(0)]
    public long FirstPage;

    /// <summary>Length of the value in bytes; also in the header of the run.</summary>
    [FieldOffset(8)]
    public long Length;
}

/// <summary>What a leaf keeps of a value in a run whose pages, the first included, have no header.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size, Pack = 1)]
internal struct LargeExtentReference
{
    public const int Size = 24;

    /// <summary>Bytes of a value that share a checksum.</summary>
    public const int ChunkBytes = 64 << 10;

    [FieldOffset(0)]
    public long FirstPage;

    /// <summary>Length of the value in bytes.</summary>
    [FieldOffset(8)]
    public long Length;

    /// <summary>
    /// Of a value of one chunk its checksum, else the first page of the overflow run that holds the checksums of its chunks,
    /// since its own pages have no place for them; 0 if there is none.
    /// </summary>
    [FieldOffset(16)]
    public ulong Checksums;

    /// <summary>The value has no more than one chunk, and so its only checksum here.</summary>
    public readonly bool IsOneChunk => Length <= ChunkBytes;

    /// <summary>The first page of the run of checksums; 0 if there is none.</summary>
    public readonly long ChecksumPage => IsOneChunk ? 0 : (long)Checksums;
}
