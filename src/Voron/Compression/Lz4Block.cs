#if VORON_K4OS
using Compressor = Voron.Compression.K4osLz4Codec;
using Decoder = Voron.Compression.K4osLz4Codec;
#else
using Compressor = Voron.Compression.ManagedLz4Codec;
using Decoder = Voron.Compression.Lz4Decoder;
#endif

namespace Voron.Compression;

/// <summary>Compression in the LZ4 block format, by the codec that was compiled in.</summary>
/// <remarks>
/// Codecs may compress the same bytes differently, but each reads the output of any other: the block format is the contract, and a block
/// does not identify its codec. Built with <c>-p:JournalCodec=K4os</c> this is the K4os package, otherwise the engine's own codec.
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
        => Compressor.Compress(source, sourceLength, target, targetCapacity);

    /// <summary>
    /// Decompresses one block and returns the number of bytes written, or -1 if the block is damaged or its content is longer than
    /// <paramref name="targetLength"/>. Whatever the bytes of the block are, nothing outside the two buffers is read or written; within the
    /// target, bytes after the returned length may have been changed.
    /// </summary>
    public static int Decompress(byte* source, int sourceLength, byte* target, int targetLength)
        => Decoder.Decompress(source, sourceLength, target, targetLength);
}
