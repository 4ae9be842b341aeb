using System.Buffers;
using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using Voron.IO;

namespace Voron.Sorting;

/// <summary>Sorts the items of a buffer by key, and items of the same key by arrival.</summary>
/// <remarks>
/// The first eight bytes after the prefix that all keys share, the heads, are sorted as numbers, which is fast. Only items with equal heads are then
/// sorted by the rest of their keys, in the same way if there are many of them.
/// </remarks>
internal static unsafe class KeySorter
{
    // Up to this number, whole keys are compared at once.
    private const int FewItems = 16;

    /// <inheritdoc cref="Sort{T}(Span{T}, Span{ulong}, byte*)"/>
    /// <exception cref="OutOfMemoryException">There is no memory for the heads.</exception>
    public static void Sort<T>(Span<T> items, byte* bytes)
        where T : struct, IKeyedItem
    {
        EngineMemory.Ask((nuint)items.Length * sizeof(ulong));
        var rented = ArrayPool<ulong>.Shared.Rent(items.Length);
        Sort(items, rented.AsSpan(0, items.Length), bytes);
        ArrayPool<ulong>.Shared.Return(rented);
    }

    /// <summary>Sorts items by their keys, compared as unsigned bytes, and items of the same key by their offsets.</summary>
    /// <param name="items">The items, at least one.</param>
    /// <param name="heads">Receives the heads of the sorted keys.</param>
    /// <param name="bytes">The buffer to which the offsets refer.</param>
    /// <returns>The number of bytes that all keys share at their beginning, which the heads follow.</returns>
    public static int Sort<T>(Span<T> items, Span<ulong> heads, byte* bytes)
        where T : struct, IKeyedItem
    {
        var prefix = CommonPrefix<T>(items, bytes);
        SortAfter(items, heads, bytes, prefix);
        return prefix;
    }

    /// <summary>
    /// Returns the first eight bytes of a key as a number of the same order, with zeros after a shorter key. Reads the bytes of the key only.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Head(byte* key, int length)
    {
        if (length >= sizeof(ulong))
            return BinaryPrimitives.ReverseEndianness(Unsafe.ReadUnaligned<ulong>(key));
        ulong head = 0;
        for (var i = 0; i < length; i++)
            head |= (ulong)key[i] << (56 - 8 * i);
        return head;
    }

    private static void SortAfter<T>(Span<T> items, Span<ulong> heads, byte* bytes, int prefix)
        where T : struct, IKeyedItem
    {
        for (var i = 0; i < items.Length; i++)
            heads[i] = Head(bytes + items[i].Offset + prefix, items[i].KeyLength - prefix);
        heads.Sort(items);

        ByKeyAndArrival<T>? order = null;
        for (int from = 0, to; from < items.Length; from = to)
        {
            var head = heads[from];
            for (to = from + 1; to < items.Length && heads[to] == head;)
                to++;
            if (to - from == 1)
                continue;

            var group = items[from..to];
            if (AreOfOneKey<T>(group, bytes))
            {
                // Many items of one key are common.
                group.Sort(static (left, right) => left.Offset.CompareTo(right.Offset));
            }
            else if (group.Length > FewItems && CommonPrefix<T>(group, bytes) is var shared && shared > prefix)
            {
                SortAfter(group, heads[from..to], bytes, shared);
                heads[from..to].Fill(head);
            }
            else
            {
                group.Sort(order ??= new ByKeyAndArrival<T>(bytes));
            }
        }
    }

    private static bool AreOfOneKey<T>(ReadOnlySpan<T> items, byte* bytes)
        where T : struct, IKeyedItem
    {
        var key = new ReadOnlySpan<byte>(bytes + items[0].Offset, items[0].KeyLength);
        foreach (var item in items[1..])
        {
            if (!key.SequenceEqual(new ReadOnlySpan<byte>(bytes + item.Offset, item.KeyLength)))
                return false;
        }

        return true;
    }

    private static int CommonPrefix<T>(ReadOnlySpan<T> items, byte* bytes)
        where T : struct, IKeyedItem
    {
        var common = new ReadOnlySpan<byte>(bytes + items[0].Offset, items[0].KeyLength);
        foreach (var item in items)
        {
            common = common[..common.CommonPrefixLength(new ReadOnlySpan<byte>(bytes + item.Offset, item.KeyLength))];
            if (common.IsEmpty)
                break;
        }

        return common.Length;
    }

    private sealed class ByKeyAndArrival<T>(byte* bytes) : IComparer<T>
        where T : struct, IKeyedItem
    {
        private readonly byte* _bytes = bytes;

        public int Compare(T left, T right)
        {
            var order = new ReadOnlySpan<byte>(_bytes + left.Offset, left.KeyLength)
                .SequenceCompareTo(new ReadOnlySpan<byte>(_bytes + right.Offset, right.KeyLength));
            return order != 0 ? order : left.Offset.CompareTo(right.Offset);
        }
    }
}
