#if VORON_K4OS
using System.Runtime.CompilerServices;
using K4os.Compression.LZ4;

namespace Voron.Compression;

/// <summary>Adapts the K4os package to the contract of <see cref="Lz4Block"/>.</summary>
/// <remarks>
/// <para>The package does not encode empty input, and cannot distinguish an empty result from a failure: both are handled here.</para>
/// <para>
/// Like the format's own library, the package reads a match at distance zero as a copy of the bytes that the target happened to hold. It
/// also has bounds checks of its own. The adapter therefore walks through every block first, and the package decodes only blocks whose
/// lengths and distances fit the two buffers. It still refuses a block whose last match begins less than 12 bytes before the end:
/// compressors must not write such blocks.
/// </para>
/// </remarks>
internal static unsafe class K4osLz4Codec
{
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
            if (literals == ManagedLz4Codec.LongLength && !ManagedLz4Codec.TryReadLength(ref from, end, ref literals))
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
            if (match == ManagedLz4Codec.LongLength && !ManagedLz4Codec.TryReadLength(ref from, end, ref match))
                return false;
            written += match + ManagedLz4Codec.MinMatch;
            if (written > targetLength)
                return false;
        }

        return false;
    }
}
#endif
