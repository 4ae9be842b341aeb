using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The content of a page.</summary>
internal enum PageKind : byte
{
    /// <summary>Never written, or free.</summary>
    None = 0,

    /// <summary>Keys and values of a tree.</summary>
    Leaf = 1,

    /// <summary>Separators and children of a tree.</summary>
    Branch = 2,

    /// <summary>The first page of an extent that holds one value.</summary>
    Overflow = 3,

    /// <summary>The bitmaps of a group of sections.</summary>
    SectionMap = 4,
}

/// <summary>The first 64 bytes of every page except the pages inside an extent.</summary>
/// <remarks>
/// The first 32 bytes are written by the flusher and belong to the copy on disk: diffs leave them out, and in scratch memory they have no
/// meaning.
/// <code>
///      0        1        2        3        4        5        6        7
///  0 | checksum                                                              |
///  8 | page 0: stamp of the data file; else zero                             |
/// 16 | nonce (zero)                                                          |
/// 24 |                                                                       |
/// 32 | page number                                                           |
/// 40 | kind   | flags  | (zero)          | pages of the extent               |
/// 48 | entry count     | heap start      | hole bytes      | (zero)          |
/// 56 | length of the value in bytes                                          |
/// </code>
/// </remarks>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct PageHeader
{
    public const int Size = 64;

    /// <summary>The number of bytes at the start of a page that no diff covers and no page checksum includes.</summary>
    public const int UnjournaledBytes = 32;

    /// <summary>The checksum of the page, or of the whole extent, from byte 32 on.</summary>
    [FieldOffset(0)]
    public ulong Checksum;

    /// <summary>Page 0 only: the checkpoint that the data file belongs to, as in <see cref="DataFileStamp"/>. Otherwise zero.</summary>
    [FieldOffset(8)]
    public ulong Stamp;

    [FieldOffset(32)]
    public long PageNumber;

    [FieldOffset(40)]
    public PageKind Kind;

    [FieldOffset(41)]
    public byte Flags;

    /// <summary>Overflow: the number of pages of the extent, this one included. Otherwise zero.</summary>
    [FieldOffset(44)]
    public uint ExtentPages;

    /// <summary>Leaf and branch: the number of entries, and therefore of two-byte slots after the header.</summary>
    [FieldOffset(48)]
    public ushort EntryCount;

    /// <summary>Leaf and branch: the offset of the lowest record; 0 in a page of 64 KiB that has none.</summary>
    [FieldOffset(50)]
    public ushort HeapStart;

    /// <summary>Leaf and branch: the bytes of the holes between records, without the gap before the heap.</summary>
    [FieldOffset(52)]
    public ushort HoleBytes;

    /// <summary>Overflow: the length in bytes of the content of the extent, which starts directly after this header.</summary>
    [FieldOffset(56)]
    public long ExtentBytes;

    /// <summary>
    /// Returns true if any of the bytes that the checksum leaves out, and that this version writes as zeros, is not zero: nothing else
    /// would show that they have changed. Bytes 8 to 15 of page 0 are ignored, because they hold the stamp.
    /// </summary>
    public static unsafe bool HasSpareBytes(byte* page, long number)
    {
        var words = (ulong*)page;
        return ((number == 0 ? 0 : words[1]) | words[2] | words[3]) != 0;
    }

    /// <summary>Clears the spare bytes, as they are on disk. A page in memory may have other bytes there.</summary>
    public static unsafe void ClearSpareBytes(byte* page, long number)
    {
        var words = (ulong*)page;
        if (number != 0)
            words[1] = 0;
        words[2] = 0;
        words[3] = 0;
    }
}
