using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The content of a frame of a backup.</summary>
internal enum BackupFrameKind : uint
{
    /// <summary>Pages: first one <see cref="BackupExtent"/> for each run of adjacent pages, then the pages in the same order.</summary>
    Pages = 1,

    /// <summary>The <see cref="EnvironmentState"/> to which the backup brings the pages.</summary>
    State = 2,

    /// <summary>A bit for each page from <see cref="BackupFrame.Link"/> on: 1 if the state uses it.</summary>
    UsedPages = 3,

    /// <summary>
    /// The locations of pages: <see cref="BackupIndexEntry"/>. <see cref="BackupFrame.Link"/> is the offset of the previous index frame, or 0.
    /// </summary>
    Index = 4,

    /// <summary>The user's text, in UTF-8.</summary>
    Note = 5,

    /// <summary>Zeros, so that the trailer ends at a multiple of <see cref="BackupHeader.BlockBytes"/>.</summary>
    Padding = 6,

    /// <summary>A <see cref="BackupTrailer"/> and zeros. A backup without it is unfinished.</summary>
    Trailer = 7,
}

[Flags]
internal enum BackupFrameFlags : uint
{
    None = 0,

    /// <summary>The payload is stored as one LZ4 block.</summary>
    Compressed = 1,
}

/// <summary>The header of a frame; the payload follows.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct BackupFrame
{
    public const int Size = 64;

    /// <summary>The offset of the first byte that the checksum covers, up to the end of the payload as stored.</summary>
    public const int ChecksummedFrom = 16;

    /// <summary>"VoronFrm", read as a little-endian number.</summary>
    public const ulong MarkerValue = 0x6D72466E6F726F56;

    /// <summary>The maximum number of bytes of pages in a frame.</summary>
    public const int MaxPageBytes = 1 << 20;

    /// <summary>The maximum number of extents in a frame.</summary>
    public const int MaxExtents = (BackupHeader.BlockBytes - Size) / BackupExtent.Size;

    /// <summary>The maximum length of a payload in bytes, uncompressed.</summary>
    public const int MaxRawBytes = MaxPageBytes + MaxExtents * BackupExtent.Size;

    [FieldOffset(0)]
    public ulong Marker;

    /// <summary>The checksum of header and payload. Its seed consists of the backup's id and the frame's sequence.</summary>
    [FieldOffset(8)]
    public ulong Checksum;

    /// <summary>The checksum of the previous frame; in the first frame, that of the header.</summary>
    [FieldOffset(16)]
    public ulong Previous;

    /// <summary>1 in the first frame; increases by one from frame to frame.</summary>
    [FieldOffset(24)]
    public long Sequence;

    [FieldOffset(32)]
    public BackupFrameKind Kind;

    [FieldOffset(36)]
    public BackupFrameFlags Flags;

    /// <summary>The number of extents, bits, entries or bytes in the payload.</summary>
    [FieldOffset(40)]
    public long Count;

    /// <summary>The length of the payload in bytes, uncompressed.</summary>
    [FieldOffset(48)]
    public int RawBytes;

    /// <summary>The length of the payload in bytes, as stored.</summary>
    [FieldOffset(52)]
    public int StoredBytes;

    /// <summary>A page or an offset, depending on the kind; otherwise zero.</summary>
    [FieldOffset(56)]
    public long Link;
}

/// <summary>A run of adjacent pages in a frame.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct BackupExtent
{
    public const int Size = 16;

    [FieldOffset(0)]
    public long FirstPage;

    [FieldOffset(8)]
    public int Pages;

    // 12: zero.
}

/// <summary>The location of adjacent pages in a backup. If several entries cover a page, the last one counts.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct BackupIndexEntry
{
    public const int Size = 24;

    [FieldOffset(0)]
    public long FirstPage;

    [FieldOffset(8)]
    public int Pages;

    // 12: zero.

    /// <summary>The offset of the frame in the backup.</summary>
    [FieldOffset(16)]
    public long FrameOffset;
}
