using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Paging;

namespace Voron.Trees.ValueSets.Records;

/// <summary>Reads a set of few values in its room. Never reads outside the room, whatever its bytes are.</summary>
/// <remarks>
/// <code>
///   | header | offsets, 2 bytes each, in the order of the values -> | gap | &lt;- values, each after its length, with holes |
///   0        8                                                            heap start                                room
/// </code>
/// </remarks>
internal static class FewValues
{
    /// <summary>Returns null if a room can have this header, otherwise a description of the impossible fields.</summary>
    public static string? FindFault(ReadOnlySpan<byte> room, int pageSize)
    {
        if (room.Length < FewValuesHeader.Size || room.Length > ValueSetLayout.MaxRoom(pageSize))
            return $"few values in a room of {room.Length} bytes";
        ref readonly var header = ref Header(room);
        var slots = FewValuesHeader.Size + (header.Count * sizeof(ushort));
        return header.Count < 2 || room[1] != 0 || slots > header.HeapStart || header.HeapStart > room.Length
            || header.HoleBytes > room.Length - header.HeapStart
            ? $"few values, {header.Count}, from offset {header.HeapStart} on with holes of {header.HoleBytes} bytes, in a room of {room.Length} bytes"
            : null;
    }

    /// <summary>
    /// Returns null if all values are possible and in order, otherwise a description of the first that is not. The header must be valid.
    /// </summary>
    public static string? FindValueFault(PageReader reader, ReadOnlySpan<byte> room)
    {
        ref readonly var header = ref Header(room);
        var used = 0;
        for (var i = 0; i < header.Count; i++)
        {
            var value = ValueAt(reader, room, i);
            used += sizeof(ushort) + value.Length;
            if (i > 0 && value.SequenceCompareTo(ValueAt(reader, room, i - 1)) <= 0)
                return $"value {i} of {header.Count}, which is not above the one before it";
        }

        return used != room.Length - header.HeapStart - header.HoleBytes
            ? $"{header.Count} values that take {used} bytes, which contradicts its header"
            : null;
    }

    public static int Count(ReadOnlySpan<byte> room) => Header(room).Count;

    /// <summary>Returns a value.</summary>
    /// <exception cref="CorruptionException">The value extends beyond the room.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ReadOnlySpan<byte> ValueAt(PageReader reader, ReadOnlySpan<byte> room, int index)
    {
        var offset = OffsetAt(room, index);
        if (offset < Header(room).HeapStart || offset > room.Length - sizeof(ushort))
            ValueSetErrors.ThrowPlace(reader, index, Count(room), offset, room.Length);
        int length = MemoryMarshal.Read<ushort>(room[offset..]);
        if (length == 0 || length > room.Length - sizeof(ushort) - offset)
            ValueSetErrors.ThrowPlace(reader, index, Count(room), offset, room.Length);
        return room.Slice(offset + sizeof(ushort), length);
    }

    /// <summary>Returns the index of a value; if the set does not contain it, the complement of the index where it belongs.</summary>
    /// <inheritdoc cref="ValueAt"/>
    public static int Search(PageReader reader, ReadOnlySpan<byte> room, ReadOnlySpan<byte> value)
    {
        var (low, high) = (0, Count(room) - 1);
        while (low <= high)
        {
            var middle = (low + high) >>> 1;
            var order = ValueAt(reader, room, middle).SequenceCompareTo(value);
            if (order == 0)
                return middle;
            if (order < 0)
                low = middle + 1;
            else
                high = middle - 1;
        }

        return ~low;
    }

    /// <summary>Returns the number of bytes in use in the room, excluding the gap and the holes.</summary>
    public static int UsedBytes(ReadOnlySpan<byte> room)
    {
        ref readonly var header = ref Header(room);
        return FewValuesHeader.Size + (header.Count * sizeof(ushort)) + room.Length - header.HeapStart - header.HoleBytes;
    }

    public static ref readonly FewValuesHeader Header(ReadOnlySpan<byte> room) => ref MemoryMarshal.AsRef<FewValuesHeader>(room);

    public static int OffsetAt(ReadOnlySpan<byte> room, int index) =>
        MemoryMarshal.Read<ushort>(room[(FewValuesHeader.Size + (index * sizeof(ushort)))..]);
}
