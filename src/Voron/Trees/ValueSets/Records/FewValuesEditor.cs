using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Paging;

namespace Voron.Trees.ValueSets.Records;

/// <summary>Changes a set of few values in its record. Remaining values stay in place, so that a change takes few bytes in the journal.</summary>
internal static class FewValuesEditor
{
    /// <summary>Initializes a record with an empty set. Sets all bytes of the record.</summary>
    public static void Begin(Span<byte> record)
    {
        record.Clear();
        ref var header = ref Header(record);
        header.Form = ValueSetForm.Few;
        header.HeapStart = (ushort)record.Length;
    }

    /// <summary>Adds a value at an index, if the gap or the holes have room for it.</summary>
    /// <param name="reader">The source of the record, for messages.</param>
    /// <param name="record">The record. Its header must be valid.</param>
    /// <param name="index">The index of the new value.</param>
    /// <param name="value">The value. Its bytes must not be part of the record.</param>
    /// <exception cref="CorruptionException">The values extend beyond the record.</exception>
    public static bool TryInsert(PageReader reader, Span<byte> record, int index, ReadOnlySpan<byte> value)
    {
        var needed = value.Length + FewValuesHeader.BytesOfValue;
        if (FewValues.UsedBytes(record) + needed > record.Length)
            return false;
        ref var header = ref Header(record);
        int count = header.Count;
        if (header.HeapStart - SlotsEnd(count) < needed)
        {
            Compact(reader, record);
            if (header.HeapStart - SlotsEnd(count) < needed)
                ValueSetErrors.ThrowSum(reader, count, record.Length);
        }

        var offset = header.HeapStart - value.Length - sizeof(ushort);
        Write(record, offset, value);
        var slots = Slots(record, count + 1);
        slots[index..count].CopyTo(slots[(index + 1)..]);
        slots[index] = (ushort)offset;
        header.Count = (ushort)(count + 1);
        header.HeapStart = (ushort)offset;
        return true;
    }

    /// <summary>Removes a value.</summary>
    /// <inheritdoc cref="TryInsert"/>
    public static void Remove(PageReader reader, Span<byte> record, int index)
    {
        var size = FewValues.ValueAt(reader, record, index).Length + sizeof(ushort);
        ref var header = ref Header(record);
        var offset = FewValues.OffsetAt(record, index);
        var slots = Slots(record, header.Count);
        slots[(index + 1)..].CopyTo(slots[index..]);
        slots = slots[..^1];
        header.Count--;

        // A value at the start of the heap, and the holes after it, become part of the gap.
        var holes = header.HoleBytes + size;
        if (offset == header.HeapStart)
        {
            var lowest = record.Length;
            foreach (var slot in slots)
                lowest = Math.Min(lowest, slot);
            holes -= lowest - offset;
            if (holes < 0 || lowest < offset)
                ValueSetErrors.ThrowSum(reader, header.Count, record.Length);
            header.HeapStart = (ushort)lowest;
        }

        if (holes > record.Length - header.HeapStart)
            ValueSetErrors.ThrowSum(reader, header.Count, record.Length);
        header.HoleBytes = (ushort)holes;
    }

    /// <summary>Copies the values, without the holes, to another record that can hold them.</summary>
    /// <inheritdoc cref="TryInsert"/>
    public static void Copy(PageReader reader, ReadOnlySpan<byte> record, Span<byte> target)
    {
        Begin(target);
        for (var i = 0; i < FewValues.Count(record); i++)
        {
            if (!TryInsert(reader, target, i, FewValues.ValueAt(reader, record, i)))
                ValueSetErrors.ThrowSum(reader, FewValues.Count(record), record.Length);
        }
    }

    [SkipLocalsInit]
    private static void Compact(PageReader reader, Span<byte> record)
    {
        Debug.Assert(record.Length <= ValueSetLayout.MostCapacity, "Few values have a small record.");
        Span<byte> old = stackalloc byte[ValueSetLayout.MostCapacity];
        old = old[..record.Length];
        record.CopyTo(old);
        Copy(reader, old, record);
    }

    private static void Write(Span<byte> record, int offset, ReadOnlySpan<byte> value)
    {
        MemoryMarshal.Write(record[offset..], (ushort)value.Length);
        value.CopyTo(record[(offset + sizeof(ushort))..]);
    }

    private static int SlotsEnd(int count) => FewValuesHeader.Size + (count * sizeof(ushort));

    private static Span<ushort> Slots(Span<byte> record, int count) =>
        MemoryMarshal.Cast<byte, ushort>(record[FewValuesHeader.Size..SlotsEnd(count)]);

    private static ref FewValuesHeader Header(Span<byte> record) => ref MemoryMarshal.AsRef<FewValuesHeader>(record);
}
