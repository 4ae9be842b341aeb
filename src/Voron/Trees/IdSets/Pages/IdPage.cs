using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;

namespace Voron.Trees.IdSets.Pages;

/// <summary>Reads an id page: a directory of blocks, and a heap that contains the blocks.</summary>
/// <remarks>
/// <code>
/// | header, 64 bytes | directory, 16 bytes per block, ids ascending -> | gap | &lt;- heap of blocks, in units of 16 bytes, with holes |
/// </code>
/// All members rely on the checks of <see cref="PageStructure"/>. The ids of a block are checked when it is unpacked.
/// </remarks>
internal static unsafe class IdPage
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Count(byte* page) => ((PageHeader*)page)->EntryCount;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static IdBlockEntry* Entries(byte* page) => (IdBlockEntry*)(page + PageHeader.Size);

    public static int HeapStart(byte* page, int pageSize)
    {
        int start = ((PageHeader*)page)->HeapStart;
        return start == 0 ? pageSize : start;
    }

    /// <summary>Returns the number of bytes used by the directory and the blocks.</summary>
    public static int UsedBytes(byte* page, int pageSize) =>
        pageSize - HeapStart(page, pageSize) - ((PageHeader*)page)->HoleBytes + Count(page) * IdBlockEntry.Size;

    /// <summary>Returns the number of bytes available to the directory and the blocks.</summary>
    public static int Capacity(int pageSize) => pageSize - PageHeader.Size;

    /// <summary>Returns the index of the only block that can contain an id; that of the first block if all ids of the page are above it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int FindBlock(byte* page, long id)
    {
        var entries = Entries(page);
        var low = 0;
        var count = Count(page);
        while (count > 1)
        {
            var half = count >>> 1;
            low += entries[low + half].First <= id ? half : 0;
            count -= half;
        }

        return low;
    }

    /// <summary>
    /// Returns the index of the only block that can contain an id, searching upwards from a block that does not begin above the id.
    /// </summary>
    public static int Gallop(byte* page, int from, long id)
    {
        var entries = Entries(page);
        var count = Count(page);
        var step = 1;
        while (from + step < count && entries[from + step].First <= id)
        {
            from += step;
            step *= 2;
        }

        // The block is this one or a later one, and before the block that is too high.
        var above = Math.Min(count, from + step);
        while (above - from > 1)
        {
            var middle = (from + above) >>> 1;
            if (entries[middle].First <= id)
                from = middle;
            else
                above = middle;
        }

        return from;
    }

    /// <summary>Unpacks the ids of a block and returns their number.</summary>
    /// <param name="reader">The source of the page, for messages.</param>
    /// <param name="page">The page.</param>
    /// <param name="index">The block.</param>
    /// <param name="ids">Receives the ids; has room for a block.</param>
    /// <exception cref="CorruptionException">An id of the block is too large, or not below the ids of the next block.</exception>
    public static int Unpack(PageReader reader, byte* page, int index, long* ids)
    {
        ref readonly var entry = ref Entries(page)[index];
        var count = entry.Count;
        if (!IdBlock.TryUnpack(page + entry.Place, entry.Capacity, entry.Shape, entry.First, ids)
            || (index + 1 < Count(page) && ids[count - 1] >= Entries(page)[index + 1].First))
            IdSetErrors.ThrowBlock(reader, page, index, entry);
        return count;
    }

    /// <summary>Unpacks the payloads of a block.</summary>
    /// <inheritdoc cref="Unpack"/>
    public static void UnpackPayloads(PageReader reader, byte* page, int index, byte* payloads)
    {
        ref readonly var entry = ref Entries(page)[index];
        if (!IdBlock.TryUnpackPayloads(page + entry.Place, entry.Capacity, entry.Shape, payloads))
            IdSetErrors.ThrowBlock(reader, page, index, entry);
    }

    /// <summary>Returns an id page of a set.</summary>
    /// <exception cref="CorruptionException">The page is of another kind.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* Read(PageReader reader, PageNumber number)
    {
        var page = reader.Read(number);
        if (((PageHeader*)page)->Kind != PageKind.Ids)
            IdSetErrors.ThrowKind(reader, page, number, PageKind.Ids);
        return page;
    }
}
