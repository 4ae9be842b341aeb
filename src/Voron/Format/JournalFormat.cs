using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>Constants of journal files. Everything in these files starts and ends at a multiple of <see cref="Block"/>.</summary>
internal static class JournalFormat
{
    /// <summary>The unit of writing in bytes: the alignment that unbuffered I/O requires, and at least a sector.</summary>
    public const int Block = 4096;

    /// <summary>The offset of the first record: after the two copies of the file's header.</summary>
    public const int FirstRecordOffset = 2 * Block;

    /// <summary>"VoronJnl", read as a little-endian number.</summary>
    public const ulong FileMagic = 0x6C6E4A6E6F726F56;

    /// <summary>"VoronRec", read as a little-endian number.</summary>
    public const ulong RecordMarker = 0x6365526E6F726F56;

    /// <summary>The version of journals, journal snapshots and the header file, which change together.</summary>
    public const uint Version = 1;

    public static long AlignUp(long length) => (length + Block - 1) & ~(long)(Block - 1);
}

/// <summary>The content of a record.</summary>
internal enum RecordKind : byte
{
    /// <summary>The changed pages of one transaction.</summary>
    Transaction = 1,

    /// <summary>The pages that the flusher is about to overwrite, with their checksums.</summary>
    FlushList = 2,

    /// <summary>
    /// Full-page images, as of the flush id, of pages that the flusher is about to overwrite: page entries of the kind
    /// <see cref="PageEntryKind.Zeros"/>. One flush may have several such records; each counts independently.
    /// </summary>
    FlushImages = 3,

    /// <summary>Proves that every record before it is durable; contains nothing else.</summary>
    DurabilityMarker = 4,

    /// <summary>In a journal snapshot: pages as of one transaction, each self-contained.</summary>
    JournalSnapshot = 5,
}

/// <summary>The storage format of a record's payload.</summary>
[Flags]
internal enum RecordFlags : byte
{
    None = 0,

    /// <summary>The payload is one LZ4 block.</summary>
    Compressed = 1,
}

/// <summary>The start of every record.</summary>
/// <remarks>
/// <code>
///   0 | marker                                | checksum of everything from byte 16 to the end of the payload |
///  16 | incarnation of the file                                                                               |
///  32 | offset of this record in the file     | sequence                                                      |
///  48 | checksum of the previous record       | newest sequence durable, with all before, when issued         |
///  64 | kind | flags | 0    | page entries    | payload bytes                                                 |
///  80 | payload bytes as stored               | environment state (104 bytes)                                 |
/// 192 | payload, zeros to the next block                                                                      |
/// </code>
/// </remarks>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct RecordHeader
{
    public const int Size = 192;

    /// <summary>The first byte that the checksum covers.</summary>
    public const int ChecksummedFrom = 16;

    [FieldOffset(0)]
    public ulong Marker;

    [FieldOffset(8)]
    public ulong Checksum;

    [FieldOffset(16)]
    public UInt128 Incarnation;

    [FieldOffset(32)]
    public long Offset;

    /// <summary>The record's number; increases by one from record to record, across all files and kinds.</summary>
    [FieldOffset(40)]
    public long Sequence;

    [FieldOffset(48)]
    public ulong PreviousChecksum;

    [FieldOffset(56)]
    public long DurableSequence;

    [FieldOffset(64)]
    public RecordKind Kind;

    [FieldOffset(65)]
    public RecordFlags Flags;

    /// <summary>
    /// Flush list or images: the lowest 16 bits of the number that the flush stamps the data file with; these bits are never all zero. Zero
    /// in other records, and if nothing was stamped.
    /// </summary>
    [FieldOffset(66)]
    public ushort FlushNumber;

    /// <summary>The number of page entries in the payload.</summary>
    [FieldOffset(68)]
    public uint EntryCount;

    /// <summary>Length of the payload in bytes, uncompressed.</summary>
    [FieldOffset(72)]
    public long PayloadLength;

    /// <summary>Length of the payload in bytes as stored in the file.</summary>
    [FieldOffset(80)]
    public long StoredLength;

    /// <summary>Transaction: the state after it. Flush list or images: the state as of the flush id. Otherwise zero.</summary>
    [FieldOffset(88)]
    public EnvironmentState State;

    /// <summary>The length of the whole record in the file.</summary>
    public readonly long AlignedLength => JournalFormat.AlignUp(Size + StoredLength);
}

/// <summary>The change that a transaction made to a page.</summary>
internal enum PageEntryKind : byte
{
    /// <summary>Byte runs that overwrite the page's previous version.</summary>
    Diff = 1,

    /// <summary>Byte runs over a zeroed page.</summary>
    Zeros = 2,

    /// <summary>An extent of <see cref="PageEntry.Pages"/> complete pages, over zeroed memory.</summary>
    Extent = 3,

    /// <summary><see cref="PageEntry.Pages"/> pages that become free. No bytes follow.</summary>
    Free = 4,

    /// <summary>
    /// Pages whose content was written to the data file before this record was written. A <see cref="DirectExtent"/> follows.
    /// </summary>
    Direct = 5,
}

/// <summary>
/// The start of a page's entry in a transaction record. An entry for one page with less than 64 KiB of bytes is written as a
/// <see cref="CompactPageEntry"/>, which has the same meaning.
/// </summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal unsafe struct PageEntry
{
    public const int Size = 16;

    /// <summary>Kind in the lowest eight bits, page number above.</summary>
    [FieldOffset(0)]
    public ulong PageAndKind;

    [FieldOffset(8)]
    public uint Pages;

    /// <summary>The number of bytes that follow.</summary>
    [FieldOffset(12)]
    public uint Length;

    public readonly PageEntryKind Kind => (PageEntryKind)(PageAndKind & 0xFF);

    public readonly long Page => (long)(PageAndKind >> 8);

    public static ulong Pack(long page, PageEntryKind kind) => ((ulong)page << 8) | (byte)kind;

    /// <summary>Reads an entry of either form. Returns false if the entry or its content extends beyond the available bytes.</summary>
    /// <param name="at">The first byte of the entry.</param>
    /// <param name="available">The number of bytes that may be read.</param>
    /// <param name="entry">The entry.</param>
    /// <param name="size">The size of the entry in bytes; its content follows.</param>
    public static bool TryRead(byte* at, long available, out PageEntry entry, out int size)
    {
        entry = default;
        size = available > 0 && (*at & CompactPageEntry.Mark) != 0 ? CompactPageEntry.Size : Size;
        if (available < size)
            return false;
        entry = size == Size ? Unsafe.ReadUnaligned<PageEntry>(at) : Unsafe.ReadUnaligned<CompactPageEntry>(at).ToEntry();
        return entry.Length <= available - size;
    }
}

/// <summary>The short form of <see cref="PageEntry"/>: most changes of a transaction are single pages with few new bytes.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct CompactPageEntry
{
    public const int Size = 8;

    /// <summary>Set in the first byte of this form, and never in that of the long form.</summary>
    public const byte Mark = 0x80;

    private const int LengthShift = 48;
    private const int PageBits = LengthShift - 8;

    /// <summary>Kind and <see cref="Mark"/> in the lowest eight bits, page number in the next forty, length in the highest sixteen.</summary>
    [FieldOffset(0)]
    public ulong Packed;

    public CompactPageEntry(long page, PageEntryKind kind, int length) =>
        Packed = ((ulong)length << LengthShift) | PageEntry.Pack(page, kind) | Mark;

    /// <summary>Returns true if an entry for this single page with at most that many bytes fits into this form.</summary>
    public static bool Fits(long page, int maxLength) => page >> PageBits == 0 && maxLength <= ushort.MaxValue;

    public readonly PageEntry ToEntry() => new()
    {
        PageAndKind = Packed << (64 - LengthShift) >> (64 - LengthShift) & ~(ulong)Mark,
        Pages = 1,
        Length = (uint)(Packed >> LengthShift),
    };
}

/// <summary>The location of the checksums of a directly written extent.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct DirectExtent
{
    public const int Size = 16;

    /// <summary>Length of the value in bytes.</summary>
    [FieldOffset(0)]
    public long Length;

    /// <summary>As <see cref="LargeExtentReference.Checksums"/>.</summary>
    [FieldOffset(8)]
    public ulong Checksums;
}

/// <summary>An entry of a flush list.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct FlushListEntry
{
    public const int Size = 24;

    [FieldOffset(0)]
    public long Page;

    /// <summary>The checksum in the page's header as of the flush id.</summary>
    [FieldOffset(8)]
    public ulong Checksum;

    /// <summary>1, or the number of pages of an extent.</summary>
    [FieldOffset(16)]
    public uint Pages;

    // 20 to 23: zero.
}

/// <summary>The header of a journal file; two copies, in blocks 0 and 1.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct JournalFileHeader
{
    /// <summary>The size of the fixed part; seals follow.</summary>
    public const int Size = 128;

    /// <summary>The first byte that the checksum covers.</summary>
    public const int ChecksummedFrom = 16;

    /// <summary>The number of seals that fit after the fixed part.</summary>
    public const int MaxSeals = (JournalFormat.Block - Size) / JournalSeal.Size;

    [FieldOffset(0)]
    public ulong Magic;

    /// <summary>The checksum of the block from byte 16 on.</summary>
    [FieldOffset(8)]
    public ulong Checksum;

    [FieldOffset(16)]
    public uint Version;

    [FieldOffset(20)]
    public uint PageSize;

    [FieldOffset(24)]
    public uint SealCount;

    [FieldOffset(32)]
    public UInt128 EnvironmentId;

    /// <summary>A fresh random number for each epoch of the file.</summary>
    [FieldOffset(48)]
    public UInt128 Incarnation;

    /// <summary>The number of this epoch; increases by one with each epoch of any journal file.</summary>
    [FieldOffset(64)]
    public long Epoch;

    /// <summary>The limit in bytes up to which the file may hold records.</summary>
    [FieldOffset(72)]
    public long FileLength;

    // 80 to 127: zero.

    /// <summary>Computes the checksum of a block that contains a header and its seals.</summary>
    public static unsafe ulong ComputeChecksum(byte* block) =>
        Format.Checksum.Compute(block + ChecksummedFrom, JournalFormat.Block - ChecksummedFrom, JournalFormat.FileMagic);
}

/// <summary>The final end of an earlier journal file: bytes after it are never read again.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct JournalSeal
{
    public const int Size = 48;

    [FieldOffset(0)]
    public UInt128 Incarnation;

    [FieldOffset(16)]
    public long Epoch;

    /// <summary>The sequence of the last record to be read in the file; lower than any of its records if there is none to read.</summary>
    [FieldOffset(24)]
    public long LastSequence;

    [FieldOffset(32)]
    public long EndOffset;

    // 40 to 47: zero.
}
