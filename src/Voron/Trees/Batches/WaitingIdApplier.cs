using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.IO;
using Voron.Paging;
using Voron.Sorting;
using Voron.Trees.IdSets;
using Voron.Trees.IdSets.Pages;

namespace Voron.Trees.Batches;

/// <summary>Buffered additions and removals of ids in the sets of a tree. All changes to a set are applied together.</summary>
/// <remarks>
/// The changes are sorted by key, then by id, so that each set is found once, and each of its blocks is packed once. Of several changes of the same
/// id, the last one to arrive takes effect.
/// </remarks>
internal static unsafe class WaitingIdApplier
{
    /// <summary>The maximum number of bytes in an operand: the id, and the payload if the id is added.</summary>
    public const int MaxOperandBytes = sizeof(long) + 1;

    private const int StackCount = 256;

    /// <summary>Writes an operand, and returns its bytes.</summary>
    public static ReadOnlySpan<byte> Operand(Span<byte> buffer, in IdChange change)
    {
        MemoryMarshal.Write(buffer, change.Id);
        if (change.IsRemoval)
            return buffer[..sizeof(long)];
        buffer[sizeof(long)] = (byte)change.Payload;
        return buffer[..MaxOperandBytes];
    }

    /// <summary>Applies changes to sets.</summary>
    /// <param name="writer">The pages of the tree.</param>
    /// <param name="state">The tree of id sets.</param>
    /// <param name="items">The changes in arrival order; sorted by key afterwards.</param>
    /// <param name="bytes">The buffer of keys and operands.</param>
    [SkipLocalsInit]
    public static void Apply(PageWriter writer, TreeState state, Span<WaitingPut> items, byte* bytes)
    {
        if (items.Length > 1)
            KeySorter.Sort(items, bytes);
        Span<Arrival> few = stackalloc Arrival[StackCount];
        Span<IdChange> fewChanges = stackalloc IdChange[StackCount];
        for (int from = 0, to; from < items.Length; from = to)
        {
            var key = Key(items[from], bytes);
            for (to = from + 1; to < items.Length && key.SequenceEqual(Key(items[to], bytes));)
                to++;
            var count = to - from;
            if (count <= StackCount)
                ApplyToSet(writer, state, items[from..to], bytes, new(few[..count], fewChanges[..count]));
            else
                ApplyMany(writer, state, items[from..to], bytes);
        }
    }

    private static void ApplyMany(PageWriter writer, TreeState state, ReadOnlySpan<WaitingPut> items, byte* bytes)
    {
        EngineMemory.Ask((nuint)items.Length * (nuint)(sizeof(Arrival) + sizeof(IdChange)));
        var arrivals = ArrayPool<Arrival>.Shared.Rent(items.Length);
        var changes = ArrayPool<IdChange>.Shared.Rent(items.Length);
        try
        {
            ApplyToSet(writer, state, items, bytes, new(arrivals.AsSpan(0, items.Length), changes));
        }
        finally
        {
            ArrayPool<Arrival>.Shared.Return(arrivals);
            ArrayPool<IdChange>.Shared.Return(changes);
        }
    }

    private static void ApplyToSet(PageWriter writer, TreeState state, ReadOnlySpan<WaitingPut> items, byte* bytes, scoped Room room)
    {
        var arrivals = room.Arrivals;
        var isSorted = true;
        for (var i = 0; i < items.Length; i++)
        {
            var operand = bytes + items[i].Offset + items[i].KeyLength;
            var payload = items[i].Operation == WaitingOperation.AddId ? operand[sizeof(long)] : IdChange.Removal;
            arrivals[i] = new Arrival(new IdChange(Unsafe.ReadUnaligned<long>(operand), payload), i);
            isSorted &= i == 0 || arrivals[i - 1].Change.Id < arrivals[i].Change.Id;
        }

        // The ids of new rows ascend, so their changes arrive sorted.
        if (!isSorted)
            arrivals.Sort(static (left, right) => left.Change.Id != right.Change.Id
                ? left.Change.Id.CompareTo(right.Change.Id)
                : left.Order.CompareTo(right.Order));
        var count = 0;
        for (var i = 0; i < arrivals.Length; i++)
        {
            if (i + 1 == arrivals.Length || arrivals[i + 1].Change.Id != arrivals[i].Change.Id)
                room.Changes[count++] = arrivals[i].Change;
        }

        IdTreeWriter.Apply(writer, state, Key(items[0], bytes), room.Changes[..count]);
    }

    private static ReadOnlySpan<byte> Key(in WaitingPut item, byte* bytes) => new(bytes + item.Offset, item.KeyLength);

    private readonly record struct Arrival(IdChange Change, int Order);

    private readonly ref struct Room(Span<Arrival> arrivals, Span<IdChange> changes)
    {
        public readonly Span<Arrival> Arrivals = arrivals;
        public readonly Span<IdChange> Changes = changes;
    }
}
