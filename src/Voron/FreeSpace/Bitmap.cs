using System.Numerics;
using System.Runtime.CompilerServices;

namespace Voron.FreeSpace;

/// <summary>Bit operations on a section's bitmap: 1 is used, bit i of the section is bit i % 64 of its word i / 64.</summary>
internal static unsafe class Bitmap
{
    /// <summary>Returns the first clear bit at or after <paramref name="from"/>, or -1.</summary>
    public static int FindClear(byte* bitmap, int bits, int from)
    {
        var words = (ulong*)bitmap;
        for (var word = from >> 6; word < (bits + 63) >> 6; word++)
        {
            var clear = ~words[word];
            if (TryFirst(clear, word, bits, from, out var bit))
                return bit;
        }

        return -1;
    }

    /// <summary>
    /// As <see cref="FindClear(byte*, int, int)"/>; bits that are set in another bitmap, if given, do not count as clear.
    /// </summary>
    public static int FindClear(byte* bitmap, ulong* without, int bits, int from)
    {
        if (without == null)
            return FindClear(bitmap, bits, from);
        var words = (ulong*)bitmap;
        for (var word = from >> 6; word < (bits + 63) >> 6; word++)
        {
            var clear = ~(words[word] | without[word]);
            if (TryFirst(clear, word, bits, from, out var bit))
                return bit;
        }

        return -1;
    }

    /// <summary>Returns the first set bit at or after <paramref name="from"/>, or -1.</summary>
    public static int FindSet(byte* bitmap, int bits, int from)
    {
        var words = (ulong*)bitmap;
        for (var word = from >> 6; word < (bits + 63) >> 6; word++)
        {
            var set = words[word];
            if (TryFirst(set, word, bits, from, out var bit))
                return bit;
        }

        return -1;
    }

    // Finds the first bit of a word at or after the start of the search; -1 when it is after the last bit. Returns false when there is none.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool TryFirst(ulong found, int word, int bits, int from, out int bit)
    {
        if (word == from >> 6)
            found &= ulong.MaxValue << (from & 63);
        bit = (word << 6) + BitOperations.TrailingZeroCount(found);
        if (bit >= bits)
            bit = -1;
        return found != 0;
    }

    public static bool IsSet(byte* bitmap, int bit) => (bitmap[bit >> 3] & (1 << (bit & 7))) != 0;

    public static void Set(byte* bitmap, int bit) => bitmap[bit >> 3] |= (byte)(1 << (bit & 7));

    public static void Clear(byte* bitmap, int bit) => bitmap[bit >> 3] &= (byte)~(1 << (bit & 7));
}
