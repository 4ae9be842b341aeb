using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Paging;

namespace Voron.Trees.ValueSets.Records;

/// <summary>Reads a set of few values in its record. Never reads outside the record, whatever its bytes are.</summary>
/// <remarks>
/// <code>
///   | header | offsets, 2 bytes each, in the order of the values -> | gap | &lt;- values, each after its length, with holes |
///   0        8                                                            heap start                            record end
/// </code>
/// </remarks>
internal static class FewValues
{
    /// <summary>Returns null if a record can have this header, otherwise a description of the impossible fields.</summary>
    public static string? FindFault(ReadOnlySpan<byte> record, int pageSize)
    {
        if (record.Length < FewValuesHeader.Size || record.Length > ValueSetLayout.MaxCapacity(pageSize))
            return $"few values in a record of {record.Length} bytes";
        ref readonly var header = ref Header(record);
        var slots = FewValuesHeader.Size + (header.Count * sizeof(ushort));
        return header.Count < 2 || record[1] != 0 || slots > header.HeapStart || header.HeapStart > record.Length
            || header.HoleBytes > record.Length - header.HeapStart
            ? $"few values, {header.Count}, from offset {header.HeapStart} on with holes of {header.HoleBytes} bytes, in a record of {record.Length} bytes"
            : null;
    }

    /// <summary>
    /// Returns null if all values are possible and in order, otherwise a description of the first that is not. The header must be valid.
    /// </summary>
    public static string? FindValueFault(PageReader reader, ReadOnlySpan<byte> record)
    {
        ref readonly var header = ref Header(record);
        var used = 0;
        for (var i = 0; i < header.Count; i++)
        {
            var value = ValueAt(reader, record, i);
            used += sizeof(ushort) + value.Length;
            if (i > 0 && value.SequenceCompareTo(ValueAt(reader, record, i - 1)) <= 0)
                return $"value {i} of {header.Count}, which is not above the one before it";
        }

        return used != record.Length - header.HeapStart - header.HoleBytes
            ? $"{header.Count} values that take {used} bytes, which contradicts its header"
            : null;
    }

    public static int Count(ReadOnlySpan<byte> record) => Header(record).Count;

    /// <summary>Returns a value.</summary>
    /// <exception cref="CorruptionException">The value extends beyond the record.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ReadOnlySpan<byte> ValueAt(PageReader reader, ReadOnlySpan<byte> record, int index)
    {
        var offset = OffsetAt(record, index);
        if (offset < Header(record).HeapStart || offset > record.Length - sizeof(ushort))
            ValueSetErrors.ThrowPlace(reader, index, Count(record), offset, record.Length);
        int length = MemoryMarshal.Read<ushort>(record[offset..]);
        if (length == 0 || length > record.Length - sizeof(ushort) - offset)
            ValueSetErrors.ThrowPlace(reader, index, Count(record), offset, record.Length);
        return record.Slice(offset + sizeof(ushort), length);
    }

    /// <summary>Returns the index of a value; if the set does not contain it, the complement of the index where it belongs.</summary>
    /// <inheritdoc cref="ValueAt"/>
    public static int Search(PageReader reader, ReadOnlySpan<byte> record, ReadOnlySpan<byte> value)
    {
        var (low, high) = (0, Count(record) - 1);
        while (low <= high)
        {
            var middle = (low + high) >>> 1;
            var order = ValueAt(reader, record, middle).SequenceCompareTo(value);
            if (order == 0)
                return middle;
            if (order < 0)
                low = middle + 1;
            else
                high = middle - 1;
        }

        return ~low;
    }

    /// <summary>Returns the number of bytes in use in the record, excluding the gap and the holes.</summary>
    public static int UsedBytes(ReadOnlySpan<byte> record)
    {
        ref readonly var header = ref Header(record);
        return FewValuesHeader.Size + (header.Count * sizeof(ushort)) + record.Length - header.HeapStart - header.HoleBytes;
    }

    public static ref readonly FewValuesHeader Header(ReadOnlySpan<byte> record) => ref MemoryMarshal.AsRef<FewValuesHeader>(record);

    public static int OffsetAt(ReadOnlySpan<byte> record, int index) =>
        MemoryMarshal.Read<ushort>(record[(FewValuesHeader.Size + (index * sizeof(ushort)))..]);
}
