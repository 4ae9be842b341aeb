using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;

namespace Voron.Trees.IdSets.Pages;

/// <summary>Edits the directory and the blocks of an id page, changing and marking as few bytes as possible.</summary>
/// <remarks>
/// A block stays in place while its new bytes fit there. Otherwise it moves to the gap or to a hole. Only if neither has room are all blocks of
/// the page compacted.
/// </remarks>
internal static unsafe class IdPageEditor
{
    private const int Unit = IdBlockShape.CapacityUnit;
    private const int WordBits = 64;
    private const int MaxNewBlocks = 2;

    // The most unused capacity that a shrunken block keeps.
    private const int MostSlack = 4 * Unit;

    private const int HeaderCountOffset = 48;
    private const int HeaderCountBytes = 6;

    /// <summary>Initializes a newly allocated page as empty. It must get a block before the operation ends.</summary>
    /// <param name="page">The page.</param>
    /// <param name="pageSize">Its size in bytes.</param>
    /// <param name="marks">The marks of the set.</param>
    public static void Initialize(in WritablePage page, int pageSize, in IdSetMarks marks)
    {
        page.Header->HeapStart = unchecked((ushort)pageSize);
        marks.Write(page);
        MarkHeader(page);
    }

    /// <summary>Replaces blocks with ids; returns false, and changes nothing, when the page has no room for them.</summary>
    /// <param name="page">The page.</param>
    /// <param name="pageSize">Its size in bytes.</param>
    /// <param name="index">The first block.</param>
    /// <param name="removed">The number of blocks to replace, which may be 0.</param>
    /// <param name="content">The ids, which must not be stored in the page.</param>
    public static bool TryReplace(in WritablePage page, int pageSize, int index, int removed, in IdContent content)
    {
        var blocks = content.Blocks;
        Span<IdBlockShape> shapes = stackalloc IdBlockShape[MaxNewBlocks];
        var capacity = 0;
        for (var i = 0; i < blocks; i++)
        {
            shapes[i] = content.Shape(i);
            capacity += shapes[i].Capacity;
        }

        var entries = IdPage.Entries(page.Bytes);
        if (blocks == 1 && removed == 1 && entries[index].Capacity - capacity is >= 0 and <= MostSlack)
        {
            Write(page, index, shapes[0], content, 0);
            return true;
        }

        var freed = 0;
        for (var i = index; i < index + removed; i++)
            freed += entries[i].Capacity;
        var added = (blocks - removed) * IdBlockEntry.Size;
        if (Gap(page.Bytes, pageSize) + page.Header->HoleBytes + freed < capacity + added)
            return false;

        MakeEntries(page, pageSize, index, removed, blocks);
        for (var i = 0; i < blocks; i++)
        {
            Place(page, pageSize, index + i, shapes[i].Capacity);
            Write(page, index + i, shapes[i], content, i);
        }

        return true;
    }

    /// <summary>
    /// Returns whether an id can be appended to the last block in place: the block is a tail that is not full, and the gap fits its width.
    /// </summary>
    /// <param name="page">The page.</param>
    /// <param name="last">The last id of the page.</param>
    /// <param name="id">The id, which is above it.</param>
    public static bool CanAppend(byte* page, long last, long id)
    {
        ref readonly var entry = ref IdPage.Entries(page)[IdPage.Count(page) - 1];
        return entry.IsTail && entry.Count < IdBlockShape.MaxIds && (ulong)(id - last - 1) >> entry.GapWidth == 0;
    }

    /// <summary>Appends an id to the tail, which must have room for it.</summary>
    /// <param name="page">The page.</param>
    /// <param name="last">The last id of the page.</param>
    /// <param name="id">The id, which is above it.</param>
    /// <param name="payload">Its payload.</param>
    public static void Append(in WritablePage page, long last, long id, byte payload)
    {
        var index = IdPage.Count(page.Bytes) - 1;
        ref var entry = ref IdPage.Entries(page.Bytes)[index];
        var shape = entry.Shape;
        IdBlock.Append(page.Bytes + entry.Place, shape, (ulong)(id - last - 1), payload);
        page.MarkDirty(entry.Place + ((shape.Count - 1) * shape.GapWidth >> 3), shape.GapWidth >> 3);
        page.MarkDirty(entry.Place + shape.PayloadOffset + shape.Count, 1);
        entry.LastIndex++;
        entry.HighestPayload = Math.Max(entry.HighestPayload, payload);
        MarkEntries(page, index, 1);
    }

    /// <summary>Copies blocks to the end of another page, which has room for them and contains only lower ids.</summary>
    public static void AppendBlocks(byte* source, int from, int to, in WritablePage target, int pageSize)
    {
        var needed = (to - from) * IdBlockEntry.Size;
        for (var i = from; i < to; i++)
            needed += IdPage.Entries(source)[i].Capacity;
        if (Gap(target.Bytes, pageSize) < needed)
            Compact(target, pageSize);
        Debug.Assert(Gap(target.Bytes, pageSize) >= needed, "The page must have room: the caller has counted the bytes.");
        for (var i = from; i < to; i++)
        {
            var entry = IdPage.Entries(source)[i];
            var index = IdPage.Count(target.Bytes);
            var place = IdPage.HeapStart(target.Bytes, pageSize) - entry.Capacity;
            Unsafe.CopyBlockUnaligned(target.Bytes + place, source + entry.Place, (uint)entry.Capacity);
            target.MarkDirty(place, entry.Capacity);
            target.Header->HeapStart = unchecked((ushort)place);
            target.Header->EntryCount++;
            entry.Place = (ushort)(entry.Capacity == 0 ? 0 : place);
            IdPage.Entries(target.Bytes)[index] = entry;
            MarkEntries(target, index, 1);
        }

        MarkHeader(target);
    }

    /// <summary>Drops the blocks from index <paramref name="count"/> on, which are now in another page. Moves no bytes.</summary>
    public static void Truncate(in WritablePage page, int pageSize, int count)
    {
        page.Header->EntryCount = (ushort)count;
        Recount(page, pageSize);
    }

    /// <summary>Returns the number of blocks that stay in a page when about half of its bytes move to another page.</summary>
    public static int Half(byte* page, int pageSize)
    {
        var entries = IdPage.Entries(page);
        var half = IdPage.UsedBytes(page, pageSize) / 2;
        var at = 0;
        for (var bytes = 0; bytes < half; at++)
            bytes += entries[at].Capacity + IdBlockEntry.Size;
        return Math.Clamp(at, 1, IdPage.Count(page) - 1);
    }

    private static int Gap(byte* page, int pageSize) =>
        IdPage.HeapStart(page, pageSize) - PageHeader.Size - IdPage.Count(page) * IdBlockEntry.Size;

    private static void Write(in WritablePage page, int index, in IdBlockShape shape, in IdContent content, int block)
    {
        ref var entry = ref IdPage.Entries(page.Bytes)[index];
        entry.First = *content.Ids(block);
        entry.LastIndex = (byte)(shape.Count - 1);
        entry.GapWidth = (byte)shape.GapWidth;
        entry.PayloadWidth = (byte)shape.PayloadWidth;
        entry.HighestPayload = IdBlock.Highest(content.Payloads(block), shape.Count);
        entry.Flags = shape.IsTail ? IdBlockEntry.TailFlag : (byte)0;
        MarkEntries(page, index, 1);
        IdBlock.Pack(page.Bytes + entry.Place, shape, content.Ids(block), content.Payloads(block));
        page.MarkDirty(entry.Place, shape.Size);
    }

    /// <summary>Replaces entries with entries that have no bytes. The bytes of the old ones become holes.</summary>
    private static void MakeEntries(in WritablePage page, int pageSize, int index, int removed, int added)
    {
        var entries = IdPage.Entries(page.Bytes);
        var count = IdPage.Count(page.Bytes);
        for (var i = index; i < index + removed; i++)
            (entries[i].Place, entries[i].CapacityUnits) = (0, 0);
        MarkEntries(page, index, removed);
        Recount(page, pageSize);
        if (Gap(page.Bytes, pageSize) < (added - removed) * IdBlockEntry.Size)
            Compact(page, pageSize);

        var moved = count - index - removed;
        if (added != removed && moved > 0)
        {
            var bytes = (long)moved * IdBlockEntry.Size;
            Buffer.MemoryCopy(entries + index + removed, entries + index + added, bytes, bytes);
            MarkEntries(page, index + added, moved);
        }

        new Span<IdBlockEntry>(entries + index, added).Clear();
        MarkEntries(page, index, added);
        page.Header->EntryCount = (ushort)(count + added - removed);
        Recount(page, pageSize);
    }

    /// <summary>Gives a block room in the gap or in a hole. The page has enough free bytes, but perhaps not contiguously.</summary>
    private static void Place(in WritablePage page, int pageSize, int index, int capacity)
    {
        if (capacity == 0)
            return;
        var place = 0;
        if (Gap(page.Bytes, pageSize) < capacity && page.Header->HoleBytes >= capacity)
            place = FindHole(page.Bytes, pageSize, capacity);
        if (place == 0 && Gap(page.Bytes, pageSize) < capacity)
            Compact(page, pageSize);
        if (place == 0)
            place = IdPage.HeapStart(page.Bytes, pageSize) - capacity;
        Debug.Assert(place >= PageHeader.Size + IdPage.Count(page.Bytes) * IdBlockEntry.Size, "The page must have room: the bytes have been counted.");
        ref var entry = ref IdPage.Entries(page.Bytes)[index];
        entry.Place = (ushort)place;
        entry.CapacityUnits = (byte)(capacity / Unit);
        MarkEntries(page, index, 1);
        Recount(page, pageSize);
    }

    /// <summary>Returns the offset of the first hole with room for that many bytes, above the lowest block; 0 if there is none.</summary>
    [SkipLocalsInit]
    private static int FindHole(byte* page, int pageSize, int capacity)
    {
        var words = pageSize / Unit / WordBits;
        var taken = stackalloc ulong[words];
        new Span<ulong>(taken, words).Clear();
        var entries = IdPage.Entries(page);
        for (var i = 0; i < IdPage.Count(page); i++)
        {
            var first = entries[i].Place / Unit;
            for (var unit = first; unit < first + entries[i].CapacityUnits; unit++)
                taken[unit / WordBits] |= 1UL << (unit % WordBits);
        }

        var free = 0;
        for (var unit = IdPage.HeapStart(page, pageSize) / Unit; unit < pageSize / Unit; unit++)
        {
            free = (taken[unit / WordBits] >> (unit % WordBits) & 1) == 0 ? free + 1 : 0;
            if (free * Unit == capacity)
                return (unit + 1) * Unit - capacity;
        }

        return 0;
    }

    [SkipLocalsInit]
    private static void Compact(in WritablePage page, int pageSize)
    {
        var old = stackalloc byte[pageSize];
        Unsafe.CopyBlock(old, page.Bytes, (uint)pageSize);
        var entries = IdPage.Entries(page.Bytes);
        var heap = pageSize;
        for (var i = 0; i < IdPage.Count(page.Bytes); i++)
        {
            if (entries[i].CapacityUnits == 0)
                continue;
            heap -= entries[i].Capacity;
            Unsafe.CopyBlockUnaligned(page.Bytes + heap, old + entries[i].Place, (uint)entries[i].Capacity);
            entries[i].Place = (ushort)heap;
        }

        page.MarkDirty(heap, pageSize - heap);
        MarkEntries(page, 0, IdPage.Count(page.Bytes));
        Recount(page, pageSize);
    }

    private static void Recount(in WritablePage page, int pageSize)
    {
        var entries = IdPage.Entries(page.Bytes);
        var lowest = pageSize;
        var bytes = 0;
        for (var i = 0; i < IdPage.Count(page.Bytes); i++)
        {
            if (entries[i].CapacityUnits == 0)
                continue;
            lowest = Math.Min(lowest, entries[i].Place);
            bytes += entries[i].Capacity;
        }

        page.Header->HeapStart = unchecked((ushort)lowest);
        page.Header->HoleBytes = (ushort)(pageSize - lowest - bytes);
        MarkHeader(page);
    }

    private static void MarkHeader(in WritablePage page) => page.MarkDirty(HeaderCountOffset, HeaderCountBytes);

    private static void MarkEntries(in WritablePage page, int index, int count) =>
        page.MarkDirty(PageHeader.Size + index * IdBlockEntry.Size, count * IdBlockEntry.Size);
}
