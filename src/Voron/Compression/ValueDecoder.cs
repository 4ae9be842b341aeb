using System.Runtime.CompilerServices;

namespace Voron.Compression;

/// <summary>Decompresses values: LZ4 blocks whose matches may reach back into a dictionary, as if it lay directly before the content.</summary>
/// <remarks>
/// The package that decompresses the journal can do this as well, at half the rate (docs/decisions/0039-lz4-package.md), and reads of values wait
/// for it. Whatever the bytes of a block are, nothing outside of the three buffers is read, and nothing outside of the target is written. The
/// format of the blocks is described at <see cref="Lz4Format"/>.
/// </remarks>
internal static unsafe class ValueDecoder
{
    /// <summary>
    /// Decompresses one block and returns the number of bytes written, or -1 if the block is damaged or its content is longer than the target.
    /// </summary>
    /// <param name="block">The block.</param>
    /// <param name="dictionary">The dictionary with which it was compressed; empty for none.</param>
    /// <param name="target">Receives the content. After a failure its bytes are undefined.</param>
    public static int Decompress(ReadOnlySpan<byte> block, ReadOnlySpan<byte> dictionary, Span<byte> target)
    {
        fixed (byte* source = block, prefix = dictionary, to = target)
            return Decompress(new Input(source, block.Length, prefix, dictionary.Length), to, target.Length);
    }

    private static int Decompress(in Input input, byte* target, int targetLength)
    {
        var from = input.Source;
        var sourceEnd = from + input.SourceLength;
        var to = target;
        var targetEnd = target + targetLength;
        while (from < sourceEnd)
        {
            int token = *from++;
            long length = token >> 4;
            if (length != Lz4Format.LongLength && sourceEnd - from >= Lz4Format.CopyStep + sizeof(ushort)
                && targetEnd - to >= Lz4Format.CopyStep)
            {
                Lz4Format.Copy16(to, from);
            }
            else
            {
                if (length == Lz4Format.LongLength && !Lz4Format.TryReadLength(ref from, sourceEnd, ref length))
                    return -1;
                if (length > sourceEnd - from || length > targetEnd - to)
                    return -1;
                Unsafe.CopyBlockUnaligned(to, from, (uint)length);
                if (length == sourceEnd - from)
                    return (int)(to + length - target);
                if (sourceEnd - from - length < sizeof(ushort))
                    return -1;
            }

            from += length;
            to += length;
            long distance = Unsafe.ReadUnaligned<ushort>(from);
            from += sizeof(ushort);
            length = token & 15;
            if (length == Lz4Format.LongLength && !Lz4Format.TryReadLength(ref from, sourceEnd, ref length))
                return -1;
            length += Lz4Format.MinMatch;
            if (!TryCopy(input, target, to, targetEnd, distance, length))
                return -1;
            to += length;
        }

        // A block ends with literals, so reaching this point is always an error, even for an empty block.
        return -1;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool TryCopy(in Input input, byte* target, byte* to, byte* targetEnd, long distance, long length)
    {
        const int TwoSteps = 2 * Lz4Format.CopyStep;
        var written = to - target;
        if (distance <= written)
        {
            if (length <= TwoSteps && distance >= Lz4Format.CopyStep && targetEnd - to >= TwoSteps)
            {
                Lz4Format.Copy16(to, to - distance);
                Lz4Format.Copy16(to + Lz4Format.CopyStep, to + Lz4Format.CopyStep - distance);
                return true;
            }

            if (distance == 0 || length > targetEnd - to)
                return false;
            CopyMatch(to, distance, length);
            return true;
        }

        var back = distance - written;
        if (back > input.PrefixLength)
            return false;
        var from = input.Prefix + input.PrefixLength - back;
        if (length <= TwoSteps && back >= TwoSteps && targetEnd - to >= TwoSteps)
        {
            Lz4Format.Copy16(to, from);
            Lz4Format.Copy16(to + Lz4Format.CopyStep, from + Lz4Format.CopyStep);
            return true;
        }

        return length <= targetEnd - to && CopyAcross(target, to, from, back, length);
    }

    // What a match has beyond the end of the dictionary is the beginning of the content.
    private static bool CopyAcross(byte* target, byte* to, byte* from, long back, long length)
    {
        var inside = Math.Min(back, length);
        Unsafe.CopyBlockUnaligned(to, from, (uint)inside);
        if (length == inside)
            return true;
        to += inside;
        var distance = to - target;
        if (distance == 0)
            return false;
        CopyMatch(to, distance, length - inside);
        return true;
    }

    /// <summary>
    /// Repeats the bytes that start <paramref name="offset"/> bytes back, and copies exactly that many; the source and the target may
    /// overlap.
    /// </summary>
    private static void CopyMatch(byte* to, long offset, long length)
    {
        var from = to - offset;
        if (offset == 1)
        {
            Unsafe.InitBlockUnaligned(to, *from, (uint)length);
            return;
        }

        // The bytes already written continue the pattern, so the length that can be copied at once doubles.
        while (length > offset)
        {
            Unsafe.CopyBlockUnaligned(to, from, (uint)offset);
            to += offset;
            length -= offset;
            offset += offset;
        }

        Unsafe.CopyBlockUnaligned(to, from, (uint)length);
    }

    /// <summary>A block, and what its matches may reach back into.</summary>
    private readonly struct Input(byte* source, int sourceLength, byte* prefix, int prefixLength)
    {
        public readonly byte* Source = source;
        public readonly int SourceLength = sourceLength;
        public readonly byte* Prefix = prefix;
        public readonly int PrefixLength = prefixLength;
    }
}
