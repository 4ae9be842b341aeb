using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;

namespace Voron.Compression;

/// <summary>The LZ4 block format: its limits, and the parts of a sequence.</summary>
/// <remarks>
/// A block is a series of sequences, each of these parts: a token (high half: the number of literals; low half: the length of the match
/// less 4; 15 in either half means that more bytes follow and are added up, as long as they are 255), further bytes of the number of
/// literals, the literals, two bytes for the distance back to the match (little endian, 1 to 65535), further bytes of the match's length.
/// The last sequence ends after its literals. A compressor keeps two further promises: the last 5 bytes are literals, and the last match
/// starts at least 12 bytes before the end.
/// </remarks>
internal static unsafe class Lz4Format
{
    /// <summary>The length of a match beyond the length that the block states.</summary>
    public const int MinMatch = 4;

    /// <summary>The number of bytes at the end of a block that are always literals.</summary>
    public const int LiteralsAtEnd = 5;
    /// <summary>The last match of a block begins at least this many bytes before its end.</summary>
    public const int LastMatchDistanceFromEnd = 12;
    /// <summary>The longest distance back to a match.</summary>
    public const int MaxOffset = 65535;

    /// <summary>The value of a half of the token after which more bytes of the length follow.</summary>
    public const int LongLength = 15;

    /// <summary>Steps grow by one byte after each 2^6 positions without a match.</summary>
    public const int SkipShift = 6;

    /// <summary>The number of bytes moved by one copy that need not be exact.</summary>
    public const int CopyStep = 16;

    /// <summary>
    /// Returns the number of bytes that two places have in common, up to <paramref name="end"/>; <paramref name="left"/> is the later
    /// place.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static long CommonLength(byte* left, byte* right, byte* end)
    {
        var start = left;
        while (end - left >= sizeof(ulong))
        {
            var difference = Unsafe.ReadUnaligned<ulong>(left) ^ Unsafe.ReadUnaligned<ulong>(right);
            if (difference != 0)
                return left - start + (BitOperations.TrailingZeroCount(difference) >> 3);
            left += sizeof(ulong);
            right += sizeof(ulong);
        }

        while (left < end && *left == *right)
        {
            left++;
            right++;
        }

        return left - start;
    }

    /// <summary>Returns the half of the token for a length.</summary>
    public static int Nibble(long length) => (int)Math.Min(length, LongLength);

    /// <summary>Returns the number of bytes that a length takes in addition to its half of the token.</summary>
    public static long ExtraBytes(long length) => (length + 255 - LongLength) / 255;

    /// <summary>Returns the number of bytes of a sequence.</summary>
    public static long SequenceLength(long literals, long match)
        => 1 + ExtraBytes(literals) + literals + sizeof(ushort) + ExtraBytes(match - MinMatch);

    /// <summary>Writes the token, the number of literals and the literals. The caller has checked that there is room.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* WriteLiterals(byte* to, byte* targetEnd, byte* literals, long length, byte* sourceEnd, int matchNibble)
    {
        *to++ = (byte)((Nibble(length) << 4) | matchNibble);
        if (length >= LongLength)
            to = WriteLength(to, length - LongLength);

        if (length <= CopyStep && targetEnd - to >= CopyStep && sourceEnd - literals >= CopyStep)
            Copy16(to, literals);
        else
            Unsafe.CopyBlockUnaligned(to, literals, (uint)length);
        return to + length;
    }

    /// <summary>Writes the bytes of a length that follow the token.</summary>
    public static byte* WriteLength(byte* to, long length)
    {
        for (; length >= 255; length -= 255)
            *to++ = 255;
        *to++ = (byte)length;
        return to;
    }

    /// <summary>Adds the bytes of a length that follow the token. Returns false if the block ends within them.</summary>
    public static bool TryReadLength(ref byte* from, byte* sourceEnd, ref long length)
    {
        // The sum is at most 255 for each of fewer than 2^31 bytes, so it cannot overflow.
        byte more;
        do
        {
            if (from >= sourceEnd)
                return false;
            more = *from++;
            length += more;
        }
        while (more == 255);

        return true;
    }

    /// <summary>Copies 16 bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Copy16(byte* to, byte* from) => Vector128.Store(Vector128.Load(from), to);
}
