#if VORON_K4OS
using Codec = Voron.Journal.K4osLz4Codec;
#else
using Codec = Voron.Journal.ManagedLz4Codec;
#endif

namespace Voron.Journal;

/// <summary>Compression of journal records in the LZ4 block format, by the codec that was compiled in.</summary>
/// <remarks>
/// Codecs may compress the same bytes differently, but each reads what any other wrote: the block format is the contract, and
/// a block does not say who made it. Built with <c>-p:JournalCodec=K4os</c> this is the K4os package, otherwise the engine's own.
/// </remarks>
internal static unsafe class Lz4Block
{
    /// <summary>The most that <see cref="Compress"/> makes of <paramref name="length"/> bytes.</summary>
    /// <exception cref="ArgumentOutOfRangeException">Negative, or more than a block may hold.</exception>
    public static int MaxCompressedLength(int length)
    {
        // Literals only: a byte of length for each 255 of them, a token, and the allowance that the format's makers add.
        const int MaxInput = 0x7E00_0000;
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, MaxInput);
        return length + length / 255 + 16;
    }

    /// <summary>Compresses into one block and returns its length, or 0 when it does not fit: the target is then undefined.</summary>
    public static int Compress(byte* source, int sourceLength, byte* target, int targetCapacity)
        => Codec.Compress(source, sourceLength, target, targetCapacity);

    /// <summary>
    /// Decompresses one block and returns the bytes written, or -1 when the block is damaged or its content longer than
    /// <paramref name="targetLength"/>. Whatever the bytes of the block, nothing outside the two buffers is read or written;
    /// within the target, bytes behind the returned length may have been changed.
    /// </summary>
    public static int Decompress(byte* source, int sourceLength, byte* target, int targetLength)
        => Codec.Decompress(source, sourceLength, target, targetLength);
}
