using System.Runtime.CompilerServices;
using K4os.Compression.LZ4;

namespace Voron.Compression;

/// <summary>Compression in the LZ4 block format, for the journal and for backups, by the package K4os.Compression.LZ4.</summary>
/// <remarks>
/// <para>
/// The block format is the contract, and a block does not identify its codec: what other compressors have written is read, too. The package does
/// not encode empty input, and cannot distinguish an empty result from a failure: both are handled here.
/// </para>
/// <para>
/// Like the format's own library, the package reads a match at distance zero as a copy of the bytes that the target happened to hold. It
/// also has bounds checks of its own. Every block is therefore walked through first, and the package decodes only blocks whose
/// lengths and distances fit the two buffers. It still refuses a block whose last match begins less than 12 bytes before the end:
/// compressors must not write such blocks.
/// </para>
/// </remarks>
internal static unsafe class Lz4Block
{
    /// <summary>Returns the maximum length that <see cref="Compress"/> produces from <paramref name="length"/> bytes.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative, or more than a block may hold.</exception>
    public static int MaxCompressedLength(int length)
    {
        // Literals only: a length byte for each 255 of them, a token, and the allowance that the format's authors add.
        const int MaxInput = 0x7E00_0000;
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, MaxInput);
        return length + length / 255 + 16;
    }

    /// <summary>
    /// Compresses into one block and returns its length, or 0 if it does not fit; the content of the target is then undefined.
    /// </summary>
    public static int Compress(byte* source, int sourceLength, byte* target, int targetCapacity)
    {
        if (sourceLength == 0)
        {
            if (targetCapacity <= 0)
                return 0;
            *target = 0;
            return 1;
        }

        var written = LZ4Codec.Encode(source, sourceLength, target, targetCapacity, LZ4Level.L00_FAST);
        return written > 0 ? written : 0;
    }

    /// <summary>
    /// Decompresses one block and returns the number of bytes written, or -1 if the block is damaged or its content is longer than
    /// <paramref name="targetLength"/>. Whatever the bytes of the block are, nothing outside the two buffers is read or written; within the
    /// target, bytes after the returned length may have been changed.
    /// </summary>
    public static int Decompress(byte* source, int sourceLength, byte* target, int targetLength)
    {
        if (sourceLength <= 0 || targetLength < 0)
            return -1;

        // An empty block is a token that announces no literals, with nothing after it.
        if (sourceLength == 1 && *source == 0)
            return 0;

        if (!Fits(source, source + sourceLength, targetLength))
            return -1;
        var written = LZ4Codec.Decode(source, sourceLength, target, targetLength);
        return written > 0 ? written : -1;
    }

    /// <summary>
    /// Returns true if a block ends with literals, its content is no longer than the target, and each of its matches repeats bytes that the
    /// block has already written.
    /// </summary>
    private static bool Fits(byte* from, byte* end, long targetLength)
    {
        var written = 0L;
        while (from < end)
        {
            int token = *from++;
            long literals = token >> 4;
            if (literals == Lz4Format.LongLength && !Lz4Format.TryReadLength(ref from, end, ref literals))
                return false;
            written += literals;
            if (literals > end - from || written > targetLength)
                return false;
            from += literals;
            if (from == end)
                return true;

            if (end - from < sizeof(ushort))
                return false;
            long distance = Unsafe.ReadUnaligned<ushort>(from);
            from += sizeof(ushort);
            if (distance == 0 || distance > written)
                return false;

            long match = token & 15;
            if (match == Lz4Format.LongLength && !Lz4Format.TryReadLength(ref from, end, ref match))
                return false;
            written += match + Lz4Format.MinMatch;
            if (written > targetLength)
                return false;
        }

        return false;
    }
}
