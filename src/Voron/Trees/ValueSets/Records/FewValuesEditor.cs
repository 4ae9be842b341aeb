using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Paging;

namespace Voron.Trees.ValueSets.Records;

/// <summary>Changes a set of few values in its room. Remaining values stay in place, so that a change takes few bytes in the journal.</summary>
internal static class FewValuesEditor
{
    /// <summary>Initializes a room with an empty set. Sets all bytes of the room.</summary>
    public static void Begin(Span<byte> room)
    {
        room.Clear();
        ref var header = ref Header(room);
        header.Form = ValueSetForm.Few;
        header.HeapStart = (ushort)room.Length;
    }

    /// <summary>Adds a value at an index, if the gap or the holes have room for it.</summary>
    /// <param name="reader">The source of the record, for messages.</param>
    /// <param name="room">The room. Its header must be valid.</param>
    /// <param name="index">The index of the new value.</param>
    /// <param name="value">The value. Its bytes must not be part of the room.</param>
    /// <exception cref="CorruptionException">The values extend beyond the room.</exception>
    public static bool TryInsert(PageReader reader, Span<byte> room, int index, ReadOnlySpan<byte> value)
    {
        var needed = value.Length + FewValuesHeader.BytesOfValue;
        if (FewValues.UsedBytes(room) + needed > room.Length)
            return false;
        ref var header = ref Header(room);
        int count = header.Count;
        if (header.HeapStart - SlotsEnd(count) < needed)
        {
            Compact(reader, room);
            if (header.HeapStart - SlotsEnd(count) < needed)
                ValueSetErrors.ThrowSum(reader, count, room.Length);
        }

        var offset = header.HeapStart - value.Length - sizeof(ushort);
        Write(room, offset, value);
        var slots = Slots(room, count + 1);
        slots[index..count].CopyTo(slots[(index + 1)..]);
        slots[index] = (ushort)offset;
        header.Count = (ushort)(count + 1);
        header.HeapStart = (ushort)offset;
        return true;
    }

    /// <summary>Removes a value.</summary>
    /// <inheritdoc cref="TryInsert"/>
    public static void Remove(PageReader reader, Span<byte> room, int index)
    {
        var size = FewValues.ValueAt(reader, room, index).Length + sizeof(ushort);
        ref var header = ref Header(room);
        var offset = FewValues.OffsetAt(room, index);
        var slots = Slots(room, header.Count);
        slots[(index + 1)..].CopyTo(slots[index..]);
        slots = slots[..^1];
        header.Count--;

        // A value at the start of the heap, and the holes after it, become part of the gap.
        var holes = header.HoleBytes + size;
        if (offset == header.HeapStart)
        {
            var lowest = room.Length;
            foreach (var slot in slots)
                lowest = Math.Min(lowest, slot);
            holes -= lowest - offset;
            if (holes < 0 || lowest < offset)
                ValueSetErrors.ThrowSum(reader, header.Count, room.Length);
            header.HeapStart = (ushort)lowest;
        }

        if (holes > room.Length - header.HeapStart)
            ValueSetErrors.ThrowSum(reader, header.Count, room.Length);
        header.HoleBytes = (ushort)holes;
    }

    /// <summary>Copies the values, without the holes, to another room that can hold them.</summary>
    /// <inheritdoc cref="TryInsert"/>
    public static void Copy(PageReader reader, ReadOnlySpan<byte> room, Span<byte> target)
    {
        Begin(target);
        for (var i = 0; i < FewValues.Count(room); i++)
        {
            if (!TryInsert(reader, target, i, FewValues.ValueAt(reader, room, i)))
                ValueSetErrors.ThrowSum(reader, FewValues.Count(room), room.Length);
        }
    }

    [SkipLocalsInit]
    private static void Compact(PageReader reader, Span<byte> room)
    {
        Debug.Assert(room.Length <= ValueSetLayout.MostRoom, "Few values have a small room.");
        Span<byte> old = stackalloc byte[ValueSetLayout.MostRoom];
        old = old[..room.Length];
        room.CopyTo(old);
        Copy(reader, old, room);
    }

    private static void Write(Span<byte> room, int offset, ReadOnlySpan<byte> value)
    {
        MemoryMarshal.Write(room[offset..], (ushort)value.Length);
        value.CopyTo(room[(offset + sizeof(ushort))..]);
    }

    private static int SlotsEnd(int count) => FewValuesHeader.Size + (count * sizeof(ushort));

    private static Span<ushort> Slots(Span<byte> room, int count) => MemoryMarshal.Cast<byte, ushort>(room[FewValuesHeader.Size..SlotsEnd(count)]);

    private static ref FewValuesHeader Header(Span<byte> room) => ref MemoryMarshal.AsRef<FewValuesHeader>(room);
}
