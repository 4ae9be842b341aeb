using System.Runtime.CompilerServices;

namespace Voron.Format;

/// <summary>Checks that the bytes of an id page are consistent: part of <see cref="PageStructure"/>.</summary>
/// <remarks>
/// A page that passes has these properties: the directory ends before the lowest block; blocks lie inside the page, have a possible shape that fits
/// their capacity, and do not overlap; each first id exceeds the previous one by at least the number of ids in the previous block; heap start and
/// hole bytes are correct; only the last block may be a tail. The ids inside a block are checked when it is unpacked.
/// </remarks>
internal static unsafe class IdStructure
{
    private const int Unit = IdBlockShape.CapacityUnit;
    private const int WordBits = 64;

    /// <summary>Returns null if the page is sound, otherwise a description of the fault.</summary>
    [SkipLocalsInit]
    public static string? FindFault(byte* page, int pageSize)
    {
        var header = (PageHeader*)page;
        int count = header->EntryCount;
        var heapStart = header->HeapStart == 0 ? pageSize : header->HeapStart;
        if (count == 0 || PageHeader.Size + count * IdBlockEntry.Size > heapStart || heapStart > pageSize)
            return $"it claims {count} blocks of ids and a heap from offset {heapStart} on";

        var words = pageSize / Unit / WordBits;
        var taken = stackalloc ulong[words];
        new Span<ulong>(taken, words).Clear();
        var entries = (IdBlockEntry*)(page + PageHeader.Size);
        var lowest = pageSize;
        var bytes = 0;
        for (var i = 0; i < count; i++)
        {
            if (FindFaultOfBlock(entries, i, count) is { } fault)
                return fault;
            var capacity = entries[i].Capacity;
            if (capacity == 0)
                continue;
            int place = entries[i].Place;
            if (place < heapStart || place % Unit != 0 || capacity > pageSize - place || !TryTake(taken, place / Unit, capacity / Unit))
                return $"block {i} has {capacity} bytes at offset {place}, outside the heap from offset {heapStart} on, or overlapping another block";
            lowest = Math.Min(lowest, place);
            bytes += capacity;
        }

        return lowest == heapStart && header->HoleBytes == pageSize - heapStart - bytes
            ? null
            : $"it claims a heap from offset {heapStart} on with {header->HoleBytes} bytes of holes, " +
                $"but its lowest block is at offset {lowest}, and all blocks have {bytes} bytes";
    }

    private static string? FindFaultOfBlock(IdBlockEntry* entries, int index, int count)
    {
        ref readonly var entry = ref entries[index];
        var shape = entry.Shape;
        if (!shape.FitsIn(entry.Capacity) || (entry.Flags & ~IdBlockEntry.TailFlag) != 0)
            return $"block {index} has {shape.Count} ids of {shape.GapWidth} and {shape.PayloadWidth} bits and flags {entry.Flags:x2} in {entry.Capacity} bytes";
        if (entry.IsTail && (index + 1 < count || entry.Capacity < shape.Capacity))
            return $"block {index} of {count} with {entry.Capacity} bytes is marked as the tail";
        if (entry.Capacity == 0 && entry.Place != 0)
            return $"block {index} has no bytes, but the offset {entry.Place}";

        // Written as a subtraction, because a sum might overflow.
        var most = index + 1 < count ? entries[index + 1].First : long.MaxValue;
        return entry.First >= 0 && entry.First <= most && most - entry.First >= (index + 1 < count ? shape.Count : shape.Count - 1)
            ? null
            : $"block {index} has {shape.Count} ids from {entry.First} on, and the next one begins at {most}";
    }

    private static bool TryTake(ulong* taken, int first, int units)
    {
        for (var unit = first; unit < first + units; unit++)
        {
            var bit = 1UL << (unit % WordBits);
            if ((taken[unit / WordBits] & bit) != 0)
                return false;
            taken[unit / WordBits] |= bit;
        }

        return true;
    }
}
