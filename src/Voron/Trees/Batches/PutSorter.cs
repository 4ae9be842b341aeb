using System.Buffers;
using System.Buffers.Binary;
using Voron.IO;

namespace Voron.Trees.Batches;

/// <summary>Sorts waiting puts by key, and puts of the same key by arrival.</summary>
internal static unsafe class PutSorter
{
    /// <param name="puts">The puts in arrival order, which is also the order of their offsets.</param>
    /// <param name="bytes">The buffer to which the offsets refer.</param>
    public static void Sort(Span<WaitingPut> puts, byte* bytes)
    {
        var prefix = CommonPrefix(puts, bytes);
        EngineMemory.Ask((nuint)puts.Length * sizeof(ulong));
        var rented = ArrayPool<ulong>.Shared.Rent(puts.Length);
        var heads = rented.AsSpan(0, puts.Length);
        for (var i = 0; i < puts.Length; i++)
            heads[i] = Head(bytes + puts[i].Offset + prefix, puts[i].KeyLength - prefix);

        // Sort by numbers first, which is fast; puts with equal numbers are then compared by their whole keys.
        heads.Sort(puts);
        for (int from = 0, to; from < puts.Length; from = to)
        {
            for (to = from + 1; to < puts.Length && heads[to] == heads[from];)
                to++;
            if (to - from == 1)
                continue;

            // Many ids of one key are common. A comparer with a pointer would be allocated.
            var group = puts[from..to];
            if (AreOfOneKey(group, bytes))
                group.Sort(static (left, right) => left.Offset.CompareTo(right.Offset));
            else
                group.Sort(new ByKeyAndArrival(bytes));
        }

        ArrayPool<ulong>.Shared.Return(rented);
    }

    private static bool AreOfOneKey(ReadOnlySpan<WaitingPut> puts, byte* bytes)
    {
        var key = new ReadOnlySpan<byte>(bytes + puts[0].Offset, puts[0].KeyLength);
        foreach (var put in puts[1..])
        {
            if (!key.SequenceEqual(new ReadOnlySpan<byte>(bytes + put.Offset, put.KeyLength)))
                return false;
        }

        return true;
    }

    private static int CommonPrefix(ReadOnlySpan<WaitingPut> puts, byte* bytes)
    {
        var common = new ReadOnlySpan<byte>(bytes + puts[0].Offset, puts[0].KeyLength);
        foreach (var put in puts)
        {
            common = common[..common.CommonPrefixLength(new ReadOnlySpan<byte>(bytes + put.Offset, put.KeyLength))];
            if (common.IsEmpty)
                break;
        }

        return common.Length;
    }

    // The value follows the key in the buffer: only the key's bytes may be read.
    private static ulong Head(byte* key, int length)
    {
        if (length >= sizeof(ulong))
            return BinaryPrimitives.ReadUInt64BigEndian(new ReadOnlySpan<byte>(key, sizeof(ulong)));
        ulong head = 0;
        for (var i = 0; i < length; i++)
            head |= (ulong)key[i] << (56 - 8 * i);
        return head;
    }

    private readonly struct ByKeyAndArrival(byte* bytes) : IComparer<WaitingPut>
    {
        private readonly byte* _bytes = bytes;

        public int Compare(WaitingPut left, WaitingPut right)
        {
            var order = new ReadOnlySpan<byte>(_bytes + left.Offset, left.KeyLength)
                .SequenceCompareTo(new ReadOnlySpan<byte>(_bytes + right.Offset, right.KeyLength));
            return order != 0 ? order : left.Offset.CompareTo(right.Offset);
        }
    }
}
