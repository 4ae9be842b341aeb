#if VORON_K4OS
using K4os.Compression.LZ4;

namespace Voron.Journal;

/// <summary>The K4os package behind the contract of <see cref="Lz4Block"/>.</summary>
/// <remarks>The package does not encode nothing, and cannot tell an empty result from a failure: both are handled here.</remarks>
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

        // An empty block is a token that announces no literals, and nothing behind it.
        if (sourceLength == 1 && *source == 0)
            return 0;

        var written = LZ4Codec.Decode(source, sourceLength, target, targetLength);
        return written > 0 ? written : -1;
    }
}
#endif
