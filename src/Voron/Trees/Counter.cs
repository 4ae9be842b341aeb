using System.Buffers.Binary;
using Voron.Paging;

namespace Voron.Trees;

/// <summary>Counter values: signed integers of eight bytes, in little-endian order. A missing counter is 0.</summary>
internal static unsafe class Counter
{
    public const int Size = sizeof(long);

    /// <summary>Returns the sum of a counter and numbers, added one after the other.</summary>
    /// <param name="reader">The pages of the tree.</param>
    /// <param name="record">The record of the counter; null if the counter does not exist.</param>
    /// <param name="key">Its key, for messages.</param>
    /// <param name="deltas">The numbers.</param>
    /// <exception cref="CounterException">The value is not eight bytes long, or a sum, even an intermediate one, overflows 64 bits.</exception>
    public static long Sum(PageReader reader, byte* record, ReadOnlySpan<byte> key, ReadOnlySpan<long> deltas)
    {
        var count = 0L;
        if (record != null)
        {
            var length = LeafValue.Length(record);
            if (length != Size)
                throw CounterException.OfLength(key, length, Size);
            count = BinaryPrimitives.ReadInt64LittleEndian(LeafValue.Read(reader, record, treeId: 0));
        }

        foreach (var delta in deltas)
        {
            var sum = unchecked(count + delta);
            if (((count ^ sum) & (delta ^ sum)) < 0)
                throw CounterException.OfSum(key, count, delta);
            count = sum;
        }

        return count;
    }
}
