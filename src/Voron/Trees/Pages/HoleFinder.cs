using System.Numerics;
using System.Runtime.CompilerServices;

namespace Voron.Trees.Pages;

/// <summary>Finds a hole between the records of a page, so that a record can be added without moving the others.</summary>
internal static unsafe class HoleFinder
{
    private const int Words = 64;
    private const int Bits = Words * 64;
    private const int Log2Bits = 12;

    /// <summary>Returns the offset of the smallest hole of at least <paramref name="size"/> bytes; 0 if there is none.</summary>
    /// <param name="page">The page.</param>
    /// <param name="slots">The offsets of the records; 0 where an entry has no record.</param>
    /// <param name="heapStart">The offset of the lowest record.</param>
    /// <param name="pageSize">The size of the page in bytes.</param>
    /// <param name="size">The minimum size of the hole in bytes.</param>
    /// <remarks>
    /// A bitmap of the page is built from the slots, with one bit for each byte of a 4 KiB page. In larger pages, a bit represents
    /// several bytes, and a second pass over the records determines the exact bounds of a candidate.
    /// </remarks>
    [SkipLocalsInit]
    public static int Find<T>(byte* page, ReadOnlySpan<ushort> slots, int heapStart, int pageSize, int size)
        where T : struct, IRecordLayout
    {
        var used = stackalloc ulong[Words];
        new Span<ulong>(used, Words).Clear();
        var shift = BitOperations.Log2((uint)pageSize) - Log2Bits;
        foreach (int offset in slots)
        {
            if (offset != 0)
                SetRange(used, offset >> shift, (offset + T.RecordSize(page + offset) - 1) >> shift);
        }

        var slack = 2 * ((1 << shift) - 1);
        var best = 0;
        var bestLength = int.MaxValue;
        var at = heapStart >> shift;
        while ((at = Next(used, at, set: false)) < Bits)
        {
            var end = Next(used, at, set: true);
            var low = at << shift;
            var high = end << shift;
            if (high - low + slack >= size)
            {
                if (shift != 0)
                    MakeExact<T>(page, slots, pageSize, ref low, ref high);

                var length = high - low;
                if (length >= size && length < bestLength)
                {
                    best = low;
                    bestLength = length;
                    if (length == size)
                        break;
                }
            }

            at = end;
        }

        return best;
    }

    private static void MakeExact<T>(byte* page, ReadOnlySpan<ushort> slots, int pageSize, ref int low, ref int high)
        where T : struct, IRecordLayout
    {
        int exactLow = 0, exactHigh = pageSize;
        foreach (int offset in slots)
        {
            if (offset == 0)
                continue;

            if (offset >= high)
            {
                exactHigh = Math.Min(exactHigh, offset);
                continue;
            }

            var end = offset + T.RecordSize(page + offset);
            if (end <= low)
                exactLow = Math.Max(exactLow, end);
        }

        // The search starts at the heap start, where there is a record, so there is always a record below a hole.
        low = exactLow;
        high = exactHigh;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void SetRange(ulong* words, int first, int last)
    {
        var firstWord = first >> 6;
        var lastWord = last >> 6;
        var firstMask = ulong.MaxValue << (first & 63);
        var lastMask = ulong.MaxValue >> (63 - (last & 63));
        if (firstWord == lastWord)
        {
            words[firstWord] |= firstMask & lastMask;
            return;
        }

        words[firstWord] |= firstMask;
        for (var i = firstWord + 1; i < lastWord; i++)
            words[i] = ulong.MaxValue;
        words[lastWord] |= lastMask;
    }

    /// <summary>
    /// Returns the index of the first bit from <paramref name="at"/> on that is set or, if <paramref name="set"/> is false, clear; the number of
    /// bits if there is none.
    /// </summary>
    private static int Next(ulong* words, int at, bool set)
    {
        if (at >= Bits)
            return Bits;

        var flip = set ? 0 : ulong.MaxValue;
        var word = at >> 6;
        var bits = (words[word] ^ flip) & (ulong.MaxValue << (at & 63));
        while (bits == 0)
        {
            if (++word == Words)
                return Bits;

            bits = words[word] ^ flip;
        }

        return (word << 6) + BitOperations.TrailingZeroCount(bits);
    }
}
