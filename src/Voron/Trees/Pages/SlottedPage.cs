using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;

namespace Voron.Trees.Pages;

/// <summary>Edits the slots and the heap of a leaf or a branch, changing and marking as few bytes as possible.</summary>
/// <remarks>
/// <code>
/// | header, 64 bytes | slots, 2 bytes each, in key order -> | gap | &lt;- heap of records, with holes |
///                                                                ^ heap start
/// </code>
/// <list type="number">
/// <item>A slot holds the offset of its record. No two records overlap, and none lies below the heap start.</item>
/// <item>The heap start is the offset of the lowest record, or the page size; a page size of 64 KiB is written as 0.</item>
/// <item>Hole bytes = page size - heap start - bytes of all records.</item>
/// <item>A slot may be 0 only within one edit: its entry then has no record (<see cref="Release{T}"/>).</item>
/// </list>
/// </remarks>
internal static unsafe class SlottedPage
{
    public const int SlotSize = sizeof(ushort);

    private const int HeaderCountOffset = 48;
    private const int HeaderCountBytes = 6;

    /// <summary>Returns the number of bytes that the slots and records of a page can take together.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Capacity(int pageSize) => pageSize - PageHeader.Size;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Count(byte* page) => ((PageHeader*)page)->EntryCount;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ushort* Slots(byte* page) => (ushort*)(page + PageHeader.Size);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* Record(byte* page, int index) => page + Slots(page)[index];

    public static int HeapStart(byte* page, int pageSize)
    {
        int start = ((PageHeader*)page)->HeapStart;
        return start == 0 ? pageSize : start;
    }

    /// <summary>Returns the number of bytes that the slots and records take.</summary>
    public static int UsedBytes(byte* page, int pageSize) =>
        pageSize - HeapStart(page, pageSize) - ((PageHeader*)page)->HoleBytes + Count(page) * SlotSize;

    /// <summary>Initializes a newly allocated page as empty.</summary>
    /// <param name="page">The page.</param>
    /// <param name="pageSize">Its size in bytes.</param>
    /// <param name="treeMark">The mark of its tree: <see cref="PageHeader.TreeMark"/>.</param>
    public static void Initialize(in WritablePage page, int pageSize, uint treeMark)
    {
        page.Header->HeapStart = unchecked((ushort)pageSize);
        page.Header->TreeMark = treeMark;
        MarkHeader(page);
    }

    /// <summary>Finds room for a record, and for one more slot if it needs one: in the gap, in a hole, or by compacting.</summary>
    /// <returns>The offset for the record; 0 if the page has too little room.</returns>
    public static int MakeRoom<T>(in WritablePage page, int pageSize, int size, bool newSlot)
        where T : struct, IRecordLayout
    {
        var header = page.Header;
        var heapStart = HeapStart(page.Bytes, pageSize);
        var slotBytes = newSlot ? SlotSize : 0;
        var gap = heapStart - PageHeader.Size - header->EntryCount * SlotSize - slotBytes;
        if (gap < size)
        {
            if (gap + header->HoleBytes < size)
                return 0;

            var hole = 0;
            if (gap >= 0 && header->HoleBytes >= size)
            {
                var slots = new ReadOnlySpan<ushort>(Slots(page.Bytes), header->EntryCount);
                hole = HoleFinder.Find<T>(page.Bytes, slots, heapStart, pageSize, size);
            }

            if (hole != 0)
            {
                header->HoleBytes -= (ushort)size;
                MarkHeader(page);
                return hole;
            }

            Compact<T>(page, pageSize);
            heapStart = HeapStart(page.Bytes, pageSize);
        }

        var offset = heapStart - size;
        header->HeapStart = (ushort)offset;
        MarkHeader(page);
        return offset;
    }

    /// <summary>Inserts a slot before the one at <paramref name="index"/>.</summary>
    public static void InsertSlot(in WritablePage page, int index, int offset)
    {
        var slots = Slots(page.Bytes);
        int count = page.Header->EntryCount;
        Move(slots + index, slots + index + 1, count - index);
        slots[index] = (ushort)offset;
        page.Header->EntryCount = (ushort)(count + 1);
        MarkHeader(page);
        MarkSlots(page, index, count + 1 - index);
    }

    public static void SetSlot(in WritablePage page, int index, int offset)
    {
        Slots(page.Bytes)[index] = (ushort)offset;
        MarkSlots(page, index, 1);
    }

    /// <summary>Removes an entry and leaves a hole where its record was.</summary>
    public static void Remove<T>(in WritablePage page, int pageSize, int index)
        where T : struct, IRecordLayout
    {
        Release<T>(page, pageSize, index);
        RemoveReleased(page, index);
    }

    /// <summary>Removes the slot of an entry whose record has been released.</summary>
    public static void RemoveReleased(in WritablePage page, int index)
    {
        var slots = Slots(page.Bytes);
        var count = page.Header->EntryCount - 1;
        Move(slots + index + 1, slots + index, count - index);
        page.Header->EntryCount = (ushort)count;
        MarkHeader(page);
        MarkSlots(page, index, count - index);
    }

    /// <summary>
    /// Releases the record of an entry. The slot remains and is 0 until the entry receives another record or is removed.
    /// </summary>
    public static void Release<T>(in WritablePage page, int pageSize, int index)
        where T : struct, IRecordLayout
    {
        int offset = Slots(page.Bytes)[index];
        var size = T.RecordSize(page.Bytes + offset);
        SetSlot(page, index, 0);
        AddHole(page, pageSize, offset, size);
    }

    /// <summary>Turns heap bytes that no longer belong to a record into a hole. No slot may point to them any more.</summary>
    public static void AddHole(in WritablePage page, int pageSize, int offset, int size)
    {
        var header = page.Header;
        var holes = header->HoleBytes + size;
        if (offset == HeapStart(page.Bytes, pageSize))
        {
            // A hole that follows also becomes part of the gap.
            var lowest = holes == size ? offset + size : LowestRecord(page.Bytes, pageSize);
            holes -= lowest - offset;
            header->HeapStart = unchecked((ushort)lowest);
        }

        header->HoleBytes = (ushort)holes;
        MarkHeader(page);
    }

    /// <summary>Drops the entries from <paramref name="count"/> on, which are now in another page.</summary>
    public static void Truncate<T>(in WritablePage page, int pageSize, int count)
        where T : struct, IRecordLayout
    {
        var header = page.Header;
        var holes = (int)header->HoleBytes;
        for (var i = count; i < header->EntryCount; i++)
            holes += T.RecordSize(Record(page.Bytes, i));

        var heapStart = HeapStart(page.Bytes, pageSize);
        header->EntryCount = (ushort)count;
        var lowest = LowestRecord(page.Bytes, pageSize);
        header->HeapStart = unchecked((ushort)lowest);
        header->HoleBytes = (ushort)(holes - (lowest - heapStart));
        MarkHeader(page);
    }

    /// <summary>Removes the entries from one index up to, but not including, another. At least one entry must remain.</summary>
    public static void RemoveRange<T>(in WritablePage page, int pageSize, int from, int to)
        where T : struct, IRecordLayout
    {
        var header = page.Header;
        int count = header->EntryCount;
        var holes = (int)header->HoleBytes;
        for (var i = from; i < to; i++)
            holes += T.RecordSize(Record(page.Bytes, i));

        var heapStart = HeapStart(page.Bytes, pageSize);
        var slots = Slots(page.Bytes);
        Move(slots + to, slots + from, count - to);
        header->EntryCount = (ushort)(count - (to - from));
        MarkSlots(page, from, count - to);
        var lowest = LowestRecord(page.Bytes, pageSize);
        header->HeapStart = unchecked((ushort)lowest);
        header->HoleBytes = (ushort)(holes - (lowest - heapStart));
        MarkHeader(page);
    }

    /// <summary>Copies entries to the end of another page, which must have room for them.</summary>
    public static void Append<T>(byte* source, int from, int to, in WritablePage target, int pageSize)
        where T : struct, IRecordLayout
    {
        for (var i = from; i < to; i++)
        {
            var record = Record(source, i);
            AppendRecord<T>(target, pageSize, record, T.RecordSize(record));
        }
    }

    private static void AppendRecord<T>(in WritablePage target, int pageSize, byte* record, int size)
        where T : struct, IRecordLayout
    {
        var offset = MakeRoom<T>(target, pageSize, size, newSlot: true);
        System.Diagnostics.Debug.Assert(offset != 0, "The page must have room: the caller has counted the bytes.");
        target.MarkDirty(offset, size);
        Unsafe.CopyBlockUnaligned(target.Bytes + offset, record, (uint)size);
        InsertSlot(target, target.Header->EntryCount, offset);
    }

    public static void MarkHeader(in WritablePage page) => page.MarkDirty(HeaderCountOffset, HeaderCountBytes);

    [SkipLocalsInit]
    private static void Compact<T>(in WritablePage page, int pageSize)
        where T : struct, IRecordLayout
    {
        var old = stackalloc byte[pageSize];
        Unsafe.CopyBlock(old, page.Bytes, (uint)pageSize);
        var slots = Slots(page.Bytes);
        int count = page.Header->EntryCount;
        var heap = pageSize;
        for (var i = 0; i < count; i++)
        {
            if (slots[i] == 0)
                continue;

            var record = old + slots[i];
            var size = T.RecordSize(record);
            heap -= size;
            Unsafe.CopyBlockUnaligned(page.Bytes + heap, record, (uint)size);
            slots[i] = (ushort)heap;
        }

        page.Header->HeapStart = unchecked((ushort)heap);
        page.Header->HoleBytes = 0;
        MarkHeader(page);
        MarkSlots(page, 0, count);
        page.MarkDirty(heap, pageSize - heap);
    }

    private static int LowestRecord(byte* page, int pageSize)
    {
        var slots = Slots(page);
        var count = Count(page);
        var lowest = pageSize;
        for (var i = 0; i < count; i++)
        {
            if (slots[i] < lowest && slots[i] != 0)
                lowest = slots[i];
        }

        return lowest;
    }

    private static void MarkSlots(in WritablePage page, int index, int slots) =>
        page.MarkDirty(PageHeader.Size + index * SlotSize, slots * SlotSize);

    private static void Move(ushort* from, ushort* to, int slots)
    {
        if (slots > 0)
            Buffer.MemoryCopy(from, to, slots * SlotSize, slots * SlotSize);
    }
}
