using System.Numerics;

namespace Voron.FreeSpace;

/// <summary>Bit operations on a section's bitmap: 1 is used, bit i of the section is bit i % 64 of its word i / 64.</summary>
internal static unsafe class Bitmap
{
    /// <summary>The first clear bit at or behind <paramref name="from"/>, or -1.</summary>
    public static int FindClear(byte* bitmap, int bits, int from)
    {
        var words = (ulong*)bitmap;
        for (var word = from >> 6; word < (bits + 63) >> 6; word++)
        {
            var clear = ~words[word];
            if (word == from >> 6)
                clear &= ulong.MaxValue << (from & 63);
            if (clear != 0)
            {
                var bit = (word << 6) + BitOperations.TrailingZeroCount(clear);
                return bit < bits ? bit : -1;
            }
        }

        return -1;
    }

    /// <summary>As <see cref="FindClear(byte*, int, int)"/>; bits that are set in another bitmap, if there is one, do not count as clear.</summary>
    public static int FindClear(byte* bitmap, ulong* without, int bits, int from)
    {
        if (without == null)
            return FindClear(bitmap, bits, from);
        var words = (ulong*)bitmap;
        for (var word = from >> 6; word < (bits + 63) >> 6; word++)
        {
            var clear = ~(words[word] | without[word]);
            if (word == from >> 6)
                clear &= ulong.MaxValue << (from & 63);
            if (clear != 0)
            {
                var bit = (word << 6) + BitOperations.TrailingZeroCount(clear);
                return bit < bits ? bit : -1;
            }
        }

        return -1;
    }

    /// <summary>The first set bit at or behind <paramref name="from"/>, or -1.</summary>
    public static int FindSet(byte* bitmap, int bits, int from)
    {
        var words = (ulong*)bitmap;
        for (var word = from >> 6; word < (bits + 63) >> 6; word++)
        {
            var set = words[word];
            if (word == from >> 6)
                set &= ulong.MaxValue << (from & 63);
            if (set != 0)
            {
                var bit = (word << 6) + BitOperations.TrailingZeroCount(set);
                return bit < bits ? bit : -1;
            }
        }

        return -1;
    }

    public static bool IsSet(byte* bitmap, int bit) => (bitmap[bit >> 3] & (1 << (bit & 7))) != 0;

    public static void Set(byte* bitmap, int bit) => bitmap[bit >> 3] |= (byte)(1 << (bit & 7));

    public static void Clear(byte* bitmap, int bit) => bitmap[bit >> 3] &= (byte)~(1 << (bit & 7));
}
