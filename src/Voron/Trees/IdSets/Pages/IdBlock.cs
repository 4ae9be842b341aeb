using System.Numerics;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Testing;

namespace Voron.Trees.IdSets.Pages;

/// <summary>Packs ids with their payloads into blocks, whose layout <see cref="IdBlockShape"/> describes.</summary>
internal static unsafe partial class IdBlock
{
    public const int MaxIds = IdBlockShape.MaxIds;

    /// <summary>Returns the shape that stores ids and payloads in the fewest bytes.</summary>
    /// <param name="ids">The ids, in ascending order.</param>
    /// <param name="payloads">The payloads.</param>
    /// <param name="count">Their number, at least one.</param>
    public static IdBlockShape Measure(long* ids, byte* payloads, int count)
    {
        var gaps = 0UL;
        for (var i = 1; i < count; i++)
            gaps |= (ulong)(ids[i] - ids[i - 1] - 1);
        return new IdBlockShape(count, Width(gaps), Width(Highest(payloads, count)));
    }

    /// <summary>Returns the number of bytes that ids and payloads take in full blocks, including the directory entries of those blocks.</summary>
    /// <param name="ids">The ids, in ascending order.</param>
    /// <param name="payloads">The payloads, one for each id.</param>
    public static long PackedBytes(ReadOnlySpan<long> ids, ReadOnlySpan<byte> payloads)
    {
        var bytes = 0L;
        fixed (long* first = ids)
        fixed (byte* firstPayload = payloads)
        {
            for (var from = 0; from < ids.Length; from += MaxIds)
                bytes += IdBlockEntry.Size + Measure(first + from, firstPayload + from, Math.Min(MaxIds, ids.Length - from)).Capacity;
        }

        return bytes;
    }

    /// <summary>Returns the highest payload.</summary>
    public static byte Highest(byte* payloads, int count)
    {
        byte highest = 0;
        foreach (var payload in new ReadOnlySpan<byte>(payloads, count))
            highest = Math.Max(highest, payload);
        return highest;
    }

    /// <summary>Writes a block: all bytes up to <see cref="IdBlockShape.Size"/>, and none beyond it.</summary>
    /// <param name="block">The block.</param>
    /// <param name="shape">A shape that fits all ids and payloads.</param>
    /// <param name="ids">The ids, in ascending order.</param>
    /// <param name="payloads">The payloads.</param>
    public static void Pack(byte* block, in IdBlockShape shape, long* ids, byte* payloads)
    {
        var bits = new BitWriter(block);
        var count = PlantedFault.PackWithoutLast ? shape.Count - 1 : shape.Count;
        for (var i = 1; i < count && shape.GapWidth != 0; i++)
            bits.Add((ulong)(ids[i] - ids[i - 1] - 1), shape.GapWidth);
        bits.End();
        if (shape.IsTail)
            ClearGaps(block, shape);
        if (shape.PayloadWidth == 0)
            return;

        bits = new BitWriter(block + shape.PayloadOffset);
        for (var i = 0; i < shape.Count; i++)
            bits.Add(payloads[i], shape.PayloadWidth);
        bits.End();
    }

    /// <summary>Appends an id to a tail.</summary>
    /// <param name="tail">The block.</param>
    /// <param name="shape">Its shape before the id is appended. The block must not be full.</param>
    /// <param name="gap">The gap between the last id and this one, minus one. It must fit into the gap width of the tail.</param>
    /// <param name="payload">The payload of the id.</param>
    public static void Append(byte* tail, in IdBlockShape shape, ulong gap, byte payload)
    {
        var place = tail + ((shape.Count - 1) * shape.GapWidth >> 3);
        if (shape.GapWidth == IdBlockShape.TailGapWidth)
            Unsafe.WriteUnaligned(place, (ushort)gap);
        else
            Unsafe.WriteUnaligned(place, (uint)gap);
        tail[shape.PayloadOffset + shape.Count] = payload;
    }

    // The bytes between gaps and payloads are part of the block. Clearing them makes blocks with the same ids and payloads equal.
    private static void ClearGaps(byte* block, in IdBlockShape shape) =>
        new Span<byte>(block + shape.GapBytes, shape.PayloadOffset - shape.GapBytes).Clear();

    private static int Width(ulong bits) => 64 - BitOperations.LeadingZeroCount(bits);

    /// <summary>Writes numbers of any width one after another, and no byte beyond the last one.</summary>
    private ref struct BitWriter(byte* target)
    {
        private byte* _target = target;
        private ulong _waiting;
        private int _bits;

        /// <summary>Adds the lowest <paramref name="width"/> bits of a number, whose other bits are 0.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Add(ulong number, int width)
        {
            _waiting |= number << _bits;
            _bits += width;
            if (_bits < 64)
                return;
            Unsafe.WriteUnaligned(_target, _waiting);
            _target += sizeof(ulong);
            _bits -= 64;
            _waiting = _bits == 0 ? 0 : number >> (width - _bits);
        }

        public void End()
        {
            for (; _bits > 0; _bits -= 8, _waiting >>= 8)
                *_target++ = (byte)_waiting;
        }
    }
}
