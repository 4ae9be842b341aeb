using System.Buffers.Binary;
using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The record of a set whose values are stored in the companion of its tree, under the number of the set.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size, Pack = 1)]
internal struct LargeSetReference
{
    public const int Size = 32;

    [FieldOffset(0)]
    public ValueSetForm Form;

    // 1 to 7: zero.

    /// <summary>The number of the set, from 1 on. It is never reused in the tree.</summary>
    [FieldOffset(8)]
    public long Number;

    /// <summary>The number of values.</summary>
    [FieldOffset(16)]
    public long Count;

    /// <summary>The total number of bytes of all values.</summary>
    [FieldOffset(24)]
    public long Bytes;

    /// <summary>Returns null if a set can have this record, otherwise a description of the impossible values.</summary>
    public static string? FindFault(ReadOnlySpan<byte> record)
    {
        if (record.Length != Size)
            return $"a large set in {record.Length} bytes instead of {Size}";
        var set = MemoryMarshal.Read<LargeSetReference>(record);
        if (BinaryPrimitives.ReadUInt64LittleEndian(record) != (ulong)ValueSetForm.Large)
            return "a large set with bytes that must be zero";
        return !StateStructure.IsNumber(set.Number) || set.Number == 0 || set.Count <= 0 || set.Bytes < set.Count
            ? $"a large set of number {set.Number} with {set.Count} values of {set.Bytes} bytes"
            : null;
    }
}
