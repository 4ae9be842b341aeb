using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>A leaf's reference to a value in an extent whose pages, including the first, have no header.</summary>
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

    /// <summary>True if the value has at most one chunk, so that its only checksum is stored here.</summary>
    public readonly bool IsOneChunk => Length <= ChunkBytes;

    /// <summary>The first page of the extent of checksums; 0 if there is none.</summary>
    public readonly long ChecksumPage => IsOneChunk ? 0 : (long)Checksums;
}
