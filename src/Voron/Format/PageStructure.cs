using System.Runtime.CompilerServices;

namespace Voron.Format;

/// <summary>
/// Checks that the bytes of a page are consistent, whatever its checksum says. The check runs once, when a page comes from disk or from the
/// journal, so that code that searches or changes pages need not check where an offset leads.
/// </summary>
/// <remarks>
/// A page that passes has these properties: all slots lead to records inside the page, and no records overlap; keys are in ascending order,
/// and have a length that the page size allows; hole bytes and heap start are correct; values stored in the leaf are no longer than those
/// that the engine puts there; references are page numbers. Whether they refer to the right pages is checked when they are followed.
/// </remarks>
internal static unsafe class PageStructure
{
    private const int SlotBytes = sizeof(ushort);

    /// <summary>The maximum length of a key in bytes: at least four entries with such keys fit into any page.</summary>
    public static int MaxKeyLength(int pageSize) => pageSize / 4 - PageHeader.Size;

    /// <summary>Returns the number of pages of an overflow extent that holds that many bytes.</summary>
    public static long ExtentPages(int pageSize, long length) => (length + PageHeader.Size + pageSize - 1) / pageSize;

    /// <summary>True for a leaf of a tree and for a page of ids, false for a branch of a tree or of a set; null for any other page.</summary>
    public static bool? IsLeaf(in PageHeader header) => header.Kind switch
    {
        PageKind.Leaf or PageKind.Ids => true,
        PageKind.Branch => false,
        PageKind.Array => (header.Flags & ArrayLayout.BranchFlag) == 0,
        _ => null,
    };

    /// <summary>Returns null if the page is sound, otherwise a description of the fault, to follow "is malformed: ".</summary>
    /// <param name="page">The page, or all pages of an extent.</param>
    /// <param name="pages">The number of pages present in memory.</param>
    /// <param name="number">The page number that the page should have.</param>
    /// <param name="pageSize">The page size in bytes.</param>
    public static string? FindFault(byte* page, long pages, long number, int pageSize)
    {
        var header = (PageHeader*)page;
        if (header->PageNumber != number)
            return $"its header has page number {header->PageNumber}";
        if (header->Kind == PageKind.Overflow)
        {
            return header->ExtentPages == pages && header->ExtentBytes is >= 0 and <= int.MaxValue
                && pages == ExtentPages(pageSize, header->ExtentBytes)
                ? null
                : $"it begins an extent of {header->ExtentPages} pages with {header->ExtentBytes} bytes, but {pages} pages are present";
        }

        if (pages != 1)
            return $"it is of kind {header->Kind}, but begins an extent of {pages} pages";
        return header->Kind switch
        {
            PageKind.Leaf => FindFault<Leaf>(page, pageSize),
            PageKind.Branch => FindFault<Branch>(page, pageSize),
            PageKind.Array => ArrayStructure.FindFault(page, pageSize),
            PageKind.Ids => IdStructure.FindFault(page, pageSize),
            _ => null,
        };
    }

    [SkipLocalsInit]
    private static string? FindFault<T>(byte* page, int pageSize)
        where T : struct, IRecord
    {
        var header = (PageHeader*)page;
        int count = header->EntryCount;
        var heapStart = header->HeapStart == 0 ? pageSize : header->HeapStart;
        if (count == 0 || PageHeader.Size + count * SlotBytes > heapStart || heapStart > pageSize)
            return $"it claims {count} entries and a heap from offset {heapStart} on";

        var words = pageSize / 64;
        var used = stackalloc ulong[words];
        new Span<ulong>(used, words).Clear();
        var slots = (ushort*)(page + PageHeader.Size);
        var lowest = pageSize;
        var bytes = 0;
        ReadOnlySpan<byte> before = default;
        for (var i = 0; i < count; i++)
        {
            int start = slots[i];
            if (start < heapStart || start > pageSize - T.HeaderSize)
                return $"slot {i} leads to offset {start}, outside the heap from offset {heapStart} on";
            var record = page + start;
            var size = T.Size(record);
            if (size > pageSize - start || !TryTake(used, start, size))
                return $"the record at offset {start} has {size} bytes, and extends past the page or into another record";
            if (!T.IsSound(record, i, pageSize))
                return $"the record at offset {start} is not valid as entry {i}";
            var key = T.Key(record);
            if (i > 0 && before.SequenceCompareTo(key) >= 0)
                return $"key {i} is not above the previous key";
            before = key;
            lowest = Math.Min(lowest, start);
            bytes += size;
        }

        return lowest == heapStart && header->HoleBytes == pageSize - heapStart - bytes
            ? null
            : $"it claims a heap from offset {heapStart} on with {header->HoleBytes} bytes of holes, " +
                $"but its lowest record is at offset {lowest}, and all records have {bytes} bytes";
    }

    /// <summary>Marks bytes as taken. Returns false if one of them already is.</summary>
    private static bool TryTake(ulong* used, int start, int size)
    {
        var last = start + size - 1;
        for (var word = start >> 6; word <= last >> 6; word++)
        {
            var mask = ulong.MaxValue;
            if (word == start >> 6)
                mask &= ulong.MaxValue << (start & 63);
            if (word == last >> 6)
                mask &= ulong.MaxValue >> (63 - (last & 63));
            if ((used[word] & mask) != 0)
                return false;
            used[word] |= mask;
        }

        return true;
    }

    private interface IRecord
    {
        static abstract int HeaderSize { get; }

        static abstract int Size(byte* record);

        static abstract ReadOnlySpan<byte> Key(byte* record);

        static abstract bool IsSound(byte* record, int index, int pageSize);
    }

    private struct Leaf : IRecord
    {
        public static int HeaderSize => LeafRecordHeader.Size;

        public static int Size(byte* record) => LeafRecordHeader.Size + KeyLength(record) + ((LeafRecordHeader*)record)->InlineLength;

        public static ReadOnlySpan<byte> Key(byte* record) => new(record + LeafRecordHeader.Size, KeyLength(record));

        public static bool IsSound(byte* record, int index, int pageSize)
        {
            int length = ((LeafRecordHeader*)record)->InlineLength;
            var key = KeyLength(record);
            var behind = record + LeafRecordHeader.Size + key;
            if (key == 0 || key > MaxKeyLength(pageSize))
                return false;
            switch ((ValueKind)(((LeafRecordHeader*)record)->KeyLengthAndKind >> LeafRecordHeader.KindShift))
            {
                case ValueKind.Inline:
                    return Size(record) + SlotBytes <= (pageSize - PageHeader.Size) / 2;
                case ValueKind.Overflow:
                    return length == OverflowReference.Size
                        && IsExtent(((OverflowReference*)behind)->FirstPage, ((OverflowReference*)behind)->Length);
                case ValueKind.LargeExtent:
                    return length == LargeExtentReference.Size
                        && IsExtent(((LargeExtentReference*)behind)->FirstPage, ((LargeExtentReference*)behind)->Length)
                        && ((LargeExtentReference*)behind)->ChecksumPage is >= 0 and < uint.MaxValue;
                case ValueKind.Extended:
                    return Size(record) + SlotBytes <= (pageSize - PageHeader.Size) / 2 && ExtendedRecord.IsSound(behind, length);
                default:
                    return false;
            }
        }

        private static int KeyLength(byte* record) => ((LeafRecordHeader*)record)->KeyLengthAndKind & LeafRecordHeader.KeyLengthMask;

        private static bool IsExtent(long first, long length) => first is > 0 and < uint.MaxValue && length is >= 0 and <= int.MaxValue;
    }

    private struct Branch : IRecord
    {
        public static int HeaderSize => BranchRecordHeader.Size;

        public static int Size(byte* record) => BranchRecordHeader.Size + ((BranchRecordHeader*)record)->KeyLength;

        public static ReadOnlySpan<byte> Key(byte* record) => new(record + BranchRecordHeader.Size, ((BranchRecordHeader*)record)->KeyLength);

        public static bool IsSound(byte* record, int index, int pageSize)
        {
            int key = ((BranchRecordHeader*)record)->KeyLength;
            return (index == 0 ? key == 0 : key > 0) && key <= MaxKeyLength(pageSize)
                && ((BranchRecordHeader*)record)->Child is > 0 and < uint.MaxValue;
        }
    }
}
