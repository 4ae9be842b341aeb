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

    /// <summary>Keys of 64 bits with values of a fixed size, or with children: see <see cref="ArrayLayout"/>.</summary>
    Array = 5,

    /// <summary>Blocks of ids of a set: see <see cref="IdBlockEntry"/>.</summary>
    Ids = 6,
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
/// 24 | transaction of the version (a hint; zero in version 1)                |
/// 32 | page number                                                           |
/// 40 | kind   | flags  | (zero)          | pages of the extent               |
/// 48 | entry count     | heap start      | hole bytes      | (zero)          |
///    | array page:     | cells in use    | bytes of values | (zero)          |
/// 56 | overflow: length of the value in bytes                                |
///    | pages of trees: tree id + 1       | pages of id sets: owner hash      |
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

    /// <summary>
    /// The transaction that made this version of the page, or of the extent; 0 where it is not recorded, as in version 1. A hint for searching a
    /// damaged file: no checksum covers it, and nothing relies on it.
    /// </summary>
    [FieldOffset(24)]
    public long TransactionId;

    [FieldOffset(32)]
    public long PageNumber;

    [FieldOffset(40)]
    public PageKind Kind;

    /// <summary>Array page: <see cref="ArrayLayout.InOrderFlag"/> and <see cref="ArrayLayout.BranchFlag"/>. Otherwise zero.</summary>
    [FieldOffset(41)]
    public byte Flags;

    /// <summary>Overflow: the number of pages of the extent, including this one. Otherwise zero.</summary>
    [FieldOffset(44)]
    public uint ExtentPages;

    /// <summary>
    /// Leaf, branch and array page: the number of entries; in a leaf or a branch, therefore also of two-byte slots after the header. Id page:
    /// the number of blocks.
    /// </summary>
    [FieldOffset(48)]
    public ushort EntryCount;

    /// <summary>
    /// Leaf and branch: the offset of the lowest record; 0 in a page of 64 KiB that has none. Id page: the same for blocks. Array
    /// page: <see cref="ArrayCells"/>.
    /// </summary>
    [FieldOffset(50)]
    public ushort HeapStart;

    /// <summary>
    /// Leaf and branch: the bytes of the holes between records, without the gap before the heap. Id page: the same for blocks. Array
    /// page: <see cref="ValueSize"/>.
    /// </summary>
    [FieldOffset(52)]
    public ushort HoleBytes;

    /// <summary>
    /// Overflow: the length in bytes of the content of the extent, which starts directly after this header. Leaf, branch, array and id page:
    /// <see cref="TreeMark"/> in the lower half, <see cref="OwnerHash"/> in the upper half.
    /// </summary>
    [FieldOffset(56)]
    public long ExtentBytes;

    /// <summary>
    /// Leaf, branch, array and id page: the id of the tree, plus one; 0 where it is not recorded, as in version 1. The page belongs to that tree as
    /// long as it is in use, even if the tree is renamed.
    /// </summary>
    public uint TreeMark
    {
        readonly get => (uint)ExtentBytes;
        set => ExtentBytes = value;
    }

    /// <summary>
    /// Pages of sets of ids: a hash of the key that owns the set, which shows to which key a page belongs when a damaged file is searched; 0 in all
    /// other pages. It must be set after the <see cref="TreeMark"/>.
    /// </summary>
    public uint OwnerHash
    {
        readonly get => (uint)(ExtentBytes >> 32);
        set => ExtentBytes = (long)value << 32 | TreeMark;
    }

    /// <summary>Array page: the number of cells that are or have been in use. The free ones among them are last in the order.</summary>
    public ushort ArrayCells
    {
        readonly get => HeapStart;
        set => HeapStart = value;
    }

    /// <summary>Array page: the size of a value in bytes.</summary>
    public ushort ValueSize
    {
        readonly get => HoleBytes;
        set => HoleBytes = value;
    }

    /// <summary>
    /// Returns true if any byte that the checksum excludes and that is written as zero is not zero. Nothing else would reveal such a change. Bytes 8
    /// to 15 of page 0 are ignored, because they hold the stamp.
    /// </summary>
    /// <param name="page">The page.</param>
    /// <param name="number">Its number.</param>
    /// <param name="hasHint">True if the page may have a <see cref="TransactionId"/>.</param>
    public static unsafe bool HasSpareBytes(byte* page, long number, bool hasHint)
    {
        var words = (ulong*)page;
        return ((number == 0 ? 0 : words[1]) | words[2] | (hasHint ? 0 : words[3])) != 0;
    }

    /// <summary>Sets the bytes that have a meaning only on disk, except for the checksum. In memory, a page may have other bytes there.</summary>
    /// <param name="page">The page.</param>
    /// <param name="number">Its number.</param>
    /// <param name="transactionId">The hint, or 0.</param>
    public static unsafe void SetDiskBytes(byte* page, long number, long transactionId)
    {
        var words = (ulong*)page;
        if (number != 0)
            words[1] = 0;
        words[2] = 0;
        ((PageHeader*)page)->TransactionId = transactionId;
    }
}
