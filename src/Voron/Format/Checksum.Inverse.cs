using System.Numerics;

namespace Voron.Format;

/// <content>Computes the seed of a checksum, for files whose environment id is lost.</content>
internal static unsafe partial class Checksum
{
    private static readonly ulong Inverse0 = Inverse(Odd0);
    private static readonly ulong Inverse1 = Inverse(Odd1);
    private static readonly ulong Inverse2 = Inverse(Odd2);

    /// <summary>Returns the seed base with which the given bytes have a checksum. Every checksum has one, so a single page proves nothing.</summary>
    /// <param name="data">The bytes.</param>
    /// <param name="length">Their number, a multiple of <see cref="Stream.BlockBytes"/>.</param>
    /// <param name="pageNumber">The number of the page.</param>
    /// <param name="checksum">The checksum.</param>
    public static ulong FindSeedBase(byte* data, nuint length, long pageNumber, ulong checksum)
    {
        var stream = new Stream();
        stream.Add(data, length);
        return Unfold(Unavalanche(stream.FindSeed(checksum)), (ulong)pageNumber);
    }

    private static ulong Unfold(ulong folded, ulong value)
    {
        var state = folded * Inverse2;
        state = (state ^ (state >> 32)) * Inverse1;
        return BitOperations.RotateRight(state ^ value, 23);
    }

    private static ulong Unavalanche(ulong state)
    {
        state = Unshift(state, 31) * Inverse1;
        state = Unshift(state, 32) * Inverse0;
        return Unshift(state, 29);
    }

    // Undoes s ^ (s >> shift). Each round corrects that many more of the upper bits.
    private static ulong Unshift(ulong shifted, int shift)
    {
        var state = shifted;
        for (var known = shift; known < 64; known += shift)
            state = shifted ^ (state >> shift);
        return state;
    }

    // Newton's method modulo 2^64. Each step doubles the number of correct bits. An odd number is its own inverse in the lowest three bits.
    private static ulong Inverse(ulong odd)
    {
        var inverse = odd;
        for (var bits = 3; bits < 64; bits *= 2)
            inverse *= 2 - odd * inverse;
        return inverse;
    }

    internal partial struct Stream
    {
        /// <summary>Returns the seed with which the added pieces have a checksum.</summary>
        public readonly ulong FindSeed(ulong checksum)
        {
            var state = Unfold(Unavalanche(checksum), _lane2 | ((ulong)_lane3 << 32));
            return Unfold(state, _lane0 | ((ulong)_lane1 << 32)) ^ (_length * Odd0);
        }
    }
}
