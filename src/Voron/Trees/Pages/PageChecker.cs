using System.Buffers;
using Voron.Format;
using Voron.Primitives;

namespace Voron.Trees.Pages;

/// <summary>Checks one tree page in isolation, trusting none of its bytes.</summary>
internal static unsafe class PageChecker
{
    /// <summary>Reports the problems of a page.</summary>
    /// <returns>True if the page can be walked: every record lies inside the page and is possible, and the keys are in ascending order.</returns>
    public static bool Check(byte* page, int pageSize, PageNumber number, PageKind kind, Action<string> report)
    {
        var header = (PageHeader*)page;
        if (header->PageNumber != number.Value)
            report($"page {number}: names itself page {header->PageNumber}");

        if (header->Kind != kind)
        {
            report($"page {number}: is of kind {header->Kind}, expected {kind}");
            return false;
        }

        int count = header->EntryCount;
        var slotsEnd = SlotsEnd(count);
        var heapStart = SlottedPage.HeapStart(page, pageSize);
        if (count == 0)
            report($"page {number}: has no entries");

        if (slotsEnd > pageSize)
        {
            report($"page {number}: claims {count} entries, whose slots alone end at {slotsEnd} of {pageSize}");
            return false;
        }

        if (heapStart < slotsEnd || heapStart > pageSize)
            report($"page {number}: heap starts at {heapStart}, outside of {slotsEnd} to {pageSize}");

        var records = ArrayPool<(int Start, int End)>.Shared.Rent(count);
        try
        {
            return CheckRecords(page, pageSize, number, kind, records.AsSpan(0, count), report)
                && CheckOrder(page, count, number, kind, report);
        }
        finally
        {
            ArrayPool<(int Start, int End)>.Shared.Return(records);
        }
    }

    private static bool CheckRecords(
        byte* page, int pageSize, PageNumber number, PageKind kind, Span<(int Start, int End)> records, Action<string> report)
    {
        var slotsEnd = SlotsEnd(records.Length);
        var usable = true;
        var bytes = 0;
        for (var i = 0; i < records.Length; i++)
        {
            records[i] = default;
            int start = SlottedPage.Slots(page)[i];
            if (!TryMeasure(page, pageSize, start, slotsEnd, kind, out var size))
            {
                report($"page {number}: slot {i}: the record at {start} is not inside {slotsEnd} to {pageSize}");
                usable = false;
                continue;
            }

            records[i] = (start, start + size);
            bytes += size;
            usable &= kind == PageKind.Leaf
                ? CheckLeafRecord(page + start, pageSize, number, i, report)
                : CheckBranchRecord(page + start, pageSize, number, i, report);
        }

        if (usable)
            CheckHeap((PageHeader*)page, records, bytes, pageSize, number, report);
        return usable;
    }

    private static int SlotsEnd(int count) => PageHeader.Size + count * SlottedPage.SlotSize;

    private static bool TryMeasure(byte* page, int pageSize, int start, int slotsEnd, PageKind kind, out int size)
    {
        size = 0;
        var headerSize = kind == PageKind.Leaf ? LeafRecordHeader.Size : BranchRecordHeader.Size;
        if (start < slotsEnd || start + headerSize > pageSize)
            return false;

        size = kind == PageKind.Leaf ? LeafPage.RecordSize(page + start) : BranchPage.RecordSize(page + start);
        return start + size <= pageSize;
    }

    private static bool CheckLeafRecord(byte* record, int pageSize, PageNumber page, int slot, Action<string> report)
    {
        var keyLength = LeafPage.KeyLength(record);
        if (keyLength == 0 || keyLength > TreeLimits.MaxKeyLength(pageSize))
        {
            report($"page {page}: slot {slot}: key of {keyLength} bytes, expected 1 to {TreeLimits.MaxKeyLength(pageSize)}");
            return false;
        }

        var length = LeafPage.InlineLength(record);
        switch (LeafPage.Kind(record))
        {
            case ValueKind.Inline:
                if (!TreeLimits.IsInline(pageSize, keyLength, length))
                    report($"page {page}: slot {slot}: value of {length} bytes does not belong in a leaf");
                return true;
            case ValueKind.Overflow when length == OverflowReference.Size:
            case ValueKind.LargeExtent when length == LargeExtentReference.Size:
            case ValueKind.Extended when ExtendedRecord.IsSound(LeafPage.InlineBytes(record), length):
                return true;
            default:
                report($"page {page}: slot {slot}: value of kind {LeafPage.Kind(record)} with {length} bytes in the leaf");
                return false;
        }
    }

    private static bool CheckBranchRecord(byte* record, int pageSize, PageNumber page, int slot, Action<string> report)
    {
        var keyLength = BranchPage.KeyLength(record);
        var least = slot == 0 ? 0 : 1;
        var most = slot == 0 ? 0 : TreeLimits.MaxKeyLength(pageSize);
        if (keyLength >= least && keyLength <= most)
            return true;

        report($"page {page}: slot {slot}: separator of {keyLength} bytes, expected {least} to {most}");
        return false;
    }

    private static void CheckHeap(
        PageHeader* header, Span<(int Start, int End)> records, int bytes, int pageSize, PageNumber number, Action<string> report)
    {
        var heapStart = SlottedPage.HeapStart((byte*)header, pageSize);
        records.Sort(static (left, right) => left.Start.CompareTo(right.Start));
        for (var i = 1; i < records.Length; i++)
        {
            if (records[i].Start < records[i - 1].End)
                report($"page {number}: the record at {records[i].Start} overlaps the one that ends at {records[i - 1].End}");
        }

        var lowest = records.Length == 0 ? pageSize : records[0].Start;
        if (heapStart != lowest)
            report($"page {number}: heap starts at {heapStart}, but its lowest record is at {lowest}");

        var holes = pageSize - heapStart - bytes;
        if (header->HoleBytes != holes)
            report($"page {number}: claims {header->HoleBytes} bytes of holes, but has {holes}");
    }

    private static bool CheckOrder(byte* page, int count, PageNumber number, PageKind kind, Action<string> report)
    {
        var ordered = true;
        for (var i = kind == PageKind.Leaf ? 1 : 2; i < count; i++)
        {
            if (KeyOf(page, i - 1, kind).SequenceCompareTo(KeyOf(page, i, kind)) < 0)
                continue;

            report($"page {number}: slot {i}: key is not above the one before it");
            ordered = false;
        }

        return ordered;
    }

    private static ReadOnlySpan<byte> KeyOf(byte* page, int index, PageKind kind)
    {
        var record = SlottedPage.Record(page, index);
        return kind == PageKind.Leaf ? LeafPage.Key(record) : BranchPage.Key(record);
    }
}
