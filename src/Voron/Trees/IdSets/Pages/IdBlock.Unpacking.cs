using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;
using Voron.Format;

namespace Voron.Trees.IdSets.Pages;

/// <content>
/// Unpacking. It never reads outside a block, whatever the bytes and the shape claim: numbers are loaded eight bytes at a time while all eight are
/// inside the block, and the last ones from a zero-padded copy.
/// </content>
internal static unsafe partial class IdBlock
{
    // A gap of up to this many bits fits into the eight bytes starting at the byte of its first bit, and 127 such gaps add up to less than 2^63.
    private const int MaxNarrowWidth = 56;

    // Four consecutive gaps of up to this many bits fit into those eight bytes.
    private const int MaxShortWidth = 14;

    /// <summary>Unpacks the ids of a block.</summary>
    /// <param name="block">The block.</param>
    /// <param name="capacity">The number of bytes in the block.</param>
    /// <param name="shape">Its shape, which may be impossible.</param>
    /// <param name="first">The first id.</param>
    /// <param name="ids">Receives the ids; has room for <see cref="MaxIds"/> of them.</param>
    /// <returns>
    /// False if the block is malformed: the shape does not fit into it, the first id is negative, or an id would exceed the largest possible one.
    /// </returns>
    public static bool TryUnpack(byte* block, int capacity, in IdBlockShape shape, long first, long* ids)
    {
        if (!shape.FitsIn(capacity) || first < 0)
            return false;
        ids[0] = first;
        var gaps = shape.Count - 1;
        if (shape.GapWidth == 0)
        {
            for (var i = 1; i <= gaps; i++)
                ids[i] = first + i;
        }
        else if (shape.GapWidth <= MaxNarrowWidth)
        {
            UnpackNarrow(block, capacity, shape, ids);
        }
        else
        {
            return TryUnpackWide(block, capacity, shape, ids);
        }

        // The sum of narrow gaps cannot wrap around: if any id exceeds the largest possible one, so does the last.
        return ids[gaps] >= 0;
    }

    /// <summary>Unpacks the payloads of a block.</summary>
    /// <param name="block">The block.</param>
    /// <param name="capacity">The number of bytes in the block.</param>
    /// <param name="shape">Its shape, which may be impossible.</param>
    /// <param name="payloads">Receives the payloads; has room for <see cref="MaxIds"/> of them.</param>
    /// <returns>False if the shape does not fit into the block.</returns>
    public static bool TryUnpackPayloads(byte* block, int capacity, in IdBlockShape shape, byte* payloads)
    {
        if (!shape.FitsIn(capacity))
            return false;
        var source = block + shape.PayloadOffset;
        switch (shape.PayloadWidth)
        {
            case 0:
                new Span<byte>(payloads, shape.Count).Clear();
                break;
            case 8:
                new ReadOnlySpan<byte>(source, shape.Count).CopyTo(new Span<byte>(payloads, shape.Count));
                break;
            default:
                UnpackPayloads(block, capacity, shape, payloads);
                break;
        }

        return true;
    }

    [SkipLocalsInit]
    private static void UnpackNarrow(byte* block, int capacity, in IdBlockShape shape, long* ids)
    {
        var width = shape.GapWidth;
        var gaps = shape.Count - 1;
        var inside = capacity < sizeof(ulong) ? 0 : Math.Min(gaps, ((capacity - sizeof(ulong)) * 8 + 7) / width + 1);
        AddGaps(block, 0, width, inside, ids);
        if (inside == gaps)
            return;

        var end = stackalloc byte[2 * sizeof(ulong)];
        var from = inside * width >> 3;
        CopyEnd(end, 2 * sizeof(ulong), block + from, shape.GapBytes - from);
        AddGaps(end, inside * width & 7, width, gaps - inside, ids + inside);
    }

    private static void AddGaps(byte* source, int bit, int width, int gaps, long* ids)
    {
        var mask = ulong.MaxValue >> (64 - width);
        var id = (ulong)ids[0];
        var target = (ulong*)ids + 1;
        var end = target + gaps;

        // Four short gaps fit into the eight bytes starting at the byte of the first bit. A single addition advances the running sum by all four.
        for (; width <= MaxShortWidth && end - target >= 4; target += 4)
        {
            var bits = Unsafe.ReadUnaligned<ulong>(source + (bit >> 3)) >> (bit & 7);
            bit += 4 * width;
            var one = (bits & mask) + 1;
            bits >>= width;
            var two = one + (bits & mask) + 1;
            bits >>= width;
            var more = (bits & mask) + 1;
            bits >>= width;
            var four = two + more + (bits & mask) + 1;
            target[0] = id + one;
            target[1] = id + two;
            target[2] = id + two + more;
            id += four;
            target[3] = id;
        }

        for (; target != end; target++)
        {
            id += ((Unsafe.ReadUnaligned<ulong>(source + (bit >> 3)) >> (bit & 7)) & mask) + 1;
            *target = id;
            bit += width;
        }
    }

    // A wide gap spans up to nine bytes. Wide gaps occur in sets with few ids or with random ids.
    [SkipLocalsInit]
    private static bool TryUnpackWide(byte* block, int capacity, in IdBlockShape shape, long* ids)
    {
        const int most = sizeof(ulong) + 1;
        var width = shape.GapWidth;
        var mask = ulong.MaxValue >> (64 - width);
        var end = stackalloc byte[2 * sizeof(ulong)];
        var id = (ulong)ids[0];
        for (var i = 0; i < shape.Count - 1; i++)
        {
            var bit = i * width;
            var from = bit >> 3;
            var source = block + from;
            if (from + most > capacity)
            {
                CopyEnd(end, 2 * sizeof(ulong), source, Math.Min(most, shape.GapBytes - from));
                source = end;
            }

            var shift = bit & 7;
            var gap = Unsafe.ReadUnaligned<ulong>(source) >> shift;
            if (shift != 0)
                gap |= (ulong)source[sizeof(ulong)] << (64 - shift);

            // Neither the id nor the gap has its highest bit set, so the sum cannot wrap around.
            id += (gap & mask) + 1;
            if (id > long.MaxValue)
                return false;
            ids[i + 1] = (long)id;
        }

        return true;
    }

    [SkipLocalsInit]
    private static void UnpackPayloads(byte* block, int capacity, in IdBlockShape shape, byte* payloads)
    {
        var width = shape.PayloadWidth;
        var mask = 0x0101010101010101UL * ((1u << width) - 1);
        var end = stackalloc byte[2 * sizeof(ulong)];
        var at = shape.PayloadOffset;

        // Eight payloads take as many bytes as one payload has bits.
        for (var i = 0; i < shape.Count; i += 8, at += width)
        {
            var source = block + at;
            if (at + sizeof(ulong) > capacity)
            {
                CopyEnd(end, 2 * sizeof(ulong), source, Math.Min(sizeof(ulong), shape.Size - at));
                source = end;
            }

            var spread = Spread(Unsafe.ReadUnaligned<ulong>(source), mask, width);
            if (i + 8 <= shape.Count)
                Unsafe.WriteUnaligned(payloads + i, spread);
            else
                MemoryMarshal.AsBytes(new ReadOnlySpan<ulong>(in spread))[..(shape.Count - i)].CopyTo(new Span<byte>(payloads + i, shape.Count - i));
        }
    }

    /// <summary>Spreads eight packed numbers over the eight bytes of the result.</summary>
    private static ulong Spread(ulong packed, ulong mask, int width)
    {
        if (Bmi2.X64.IsSupported)
            return Bmi2.X64.ParallelBitDeposit(packed, mask);
        var spread = 0UL;
        for (var i = 0; i < 8; i++)
            spread |= ((packed >> (i * width)) & mask & byte.MaxValue) << (8 * i);
        return spread;
    }

    private static void CopyEnd(byte* target, int size, byte* source, int length)
    {
        new Span<byte>(target, size).Clear();
        new ReadOnlySpan<byte>(source, length).CopyTo(new Span<byte>(target, length));
    }
}
