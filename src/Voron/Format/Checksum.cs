using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The 64-bit checksum of everything on disk.</summary>
/// <remarks>
/// <para>
/// Four CRC32C lanes run side by side, because the processor can start one CRC step per cycle but needs three cycles for each: lane i takes
/// the 8-byte words i, i + 4, i + 8 and so on, read as little endian. The bytes after the last whole word are padded with zeros to one more
/// word. Each lane starts from its own constant, without the inversions of the usual CRC32C.
/// </para>
/// <para>
/// The lanes are then folded, two at a time, into a state that starts from seed and length. Each fold is a bijection of the state for fixed
/// lanes and of the two lanes for a fixed state, so damage that reaches only one pair of lanes cannot be lost in the fold, and two
/// different seeds never agree on the same bytes. Hence one damaged stretch of up to 32 bits is always found, damage in one lane is missed
/// once in 2^32, and anything wider once in 2^64.
/// </para>
/// </remarks>
internal static unsafe partial class Checksum
{
    /// <summary>The value of a field without a checksum. <see cref="Compute(byte*, nuint, ulong)"/> never returns it.</summary>
    public const ulong None = 0;

    private const uint Lane0 = 0x5CB9_1A2D;
    private const uint Lane1 = 0xA3D7_6E41;
    private const uint Lane2 = 0x1F64_C8B3;
    private const uint Lane3 = 0xE82B_357F;

    private const ulong Odd0 = 0xB5AD_4ECE_DA1C_E2A9;
    private const ulong Odd1 = 0xD6E8_FEB8_6659_FD93;
    private const ulong Odd2 = 0x8F1B_BCDC_BFA5_3E0B;

    /// <summary>The replacement for a checksum that would be <see cref="None"/>.</summary>
    private const ulong InsteadOfNone = Odd2;

    /// <summary>
    /// Returns the seed for a page: different for each page of an environment, and for the same page of different environments.
    /// </summary>
    public static ulong Seed(RandomId environmentId, long pageNumber) => Seed(SeedBase(environmentId), pageNumber);

    /// <summary>Returns the seed for a page of the environment with a seed base.</summary>
    public static ulong Seed(ulong seedBase, long pageNumber) => Avalanche(Fold(seedBase, (ulong)pageNumber));

    /// <summary>Returns the part of a seed that is the same for all pages of an environment.</summary>
    public static ulong SeedBase(RandomId environmentId) => Fold(Fold(Odd0, environmentId.Lower), environmentId.Upper);

    /// <inheritdoc cref="Seed(RandomId, long)"/>
    public static ulong Seed(Guid environmentId, long pageNumber)
    {
        Span<byte> bytes = stackalloc byte[16];
        environmentId.TryWriteBytes(bytes);
        return Seed(MemoryMarshal.Read<RandomId>(bytes), pageNumber);
    }

    /// <inheritdoc cref="Compute(byte*, nuint, ulong)"/>
    public static ulong Compute(ReadOnlySpan<byte> data, ulong seed)
    {
        fixed (byte* start = data)
            return Compute(start, (nuint)data.Length, seed);
    }

    /// <summary>Returns the checksum of <paramref name="length"/> bytes, never 0.</summary>
    public static ulong Compute(byte* data, nuint length, ulong seed)
    {
        uint lane0 = Lane0, lane1 = Lane1, lane2 = Lane2, lane3 = Lane3;

        var at = data;
        var blocksEnd = data + (length & ~(nuint)31);

        // Two blocks per round, because the loop's own instructions would otherwise take execution slots from the lanes.
        for (var pairsEnd = data + (length & ~(nuint)63); at < pairsEnd; at += 64)
        {
            lane0 = BitOperations.Crc32C(BitOperations.Crc32C(lane0, Word(at)), Word(at + 32));
            lane1 = BitOperations.Crc32C(BitOperations.Crc32C(lane1, Word(at + 8)), Word(at + 40));
            lane2 = BitOperations.Crc32C(BitOperations.Crc32C(lane2, Word(at + 16)), Word(at + 48));
            lane3 = BitOperations.Crc32C(BitOperations.Crc32C(lane3, Word(at + 24)), Word(at + 56));
        }

        if (at < blocksEnd)
        {
            lane0 = BitOperations.Crc32C(lane0, Word(at));
            lane1 = BitOperations.Crc32C(lane1, Word(at + 8));
            lane2 = BitOperations.Crc32C(lane2, Word(at + 16));
            lane3 = BitOperations.Crc32C(lane3, Word(at + 24));
            at += 32;
        }

        var rest = (int)(length & 31);
        if (rest != 0)
        {
            // Up to four words, the last of which may be incomplete.
            lane0 = BitOperations.Crc32C(lane0, PartialWord(at, rest));
            if (rest > 8)
                lane1 = BitOperations.Crc32C(lane1, PartialWord(at + 8, rest - 8));
            if (rest > 16)
                lane2 = BitOperations.Crc32C(lane2, PartialWord(at + 16, rest - 16));
            if (rest > 24)
                lane3 = BitOperations.Crc32C(lane3, PartialWord(at + 24, rest - 24));
        }

        return FoldLanes(lane0, lane1, lane2, lane3, length, seed);
    }

    /// <summary>Computes the checksum from the lanes after <paramref name="length"/> bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong FoldLanes(uint lane0, uint lane1, uint lane2, uint lane3, ulong length, ulong seed)
    {
        // The length distinguishes inputs that differ only in zeros at their end.
        var state = seed ^ (length * Odd0);
        state = Fold(state, lane0 | ((ulong)lane1 << 32));
        state = Fold(state, lane2 | ((ulong)lane3 << 32));
        state = Avalanche(state);
        return state != None ? state : InsteadOfNone;
    }

    /// <summary>A bijection in either argument while the other is fixed.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Fold(ulong state, ulong value)
    {
        state = (BitOperations.RotateLeft(state, 23) ^ value) * Odd1;
        return (state ^ (state >> 32)) * Odd2;
    }

    /// <summary>A bijection that lets every bit reach all others.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Avalanche(ulong state)
    {
        state = (state ^ (state >> 29)) * Odd0;
        state = (state ^ (state >> 32)) * Odd1;
        return state ^ (state >> 31);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Word(byte* at) => Unsafe.ReadUnaligned<ulong>(at);

    private static ulong PartialWord(byte* at, int bytes)
    {
        if (bytes >= 8)
            return Word(at);

        ulong word = 0;
        for (var i = 0; i < bytes; i++)
            word |= (ulong)at[i] << (8 * i);
        return word;
    }

    /// <summary>The checksum of bytes that arrive in pieces, so that a long extent can be verified without a buffer of its length.</summary>
    /// <remarks>Produces the same result as <see cref="Compute(byte*, nuint, ulong)"/> for the concatenated pieces.</remarks>
    internal partial struct Stream
    {
        /// <summary>The length of every piece must be a multiple of this many bytes, as every page size is.</summary>
        public const int BlockBytes = 32;

        private uint _lane0;
        private uint _lane1;
        private uint _lane2;
        private uint _lane3;
        private ulong _length;

        public Stream()
        {
            (_lane0, _lane1, _lane2, _lane3) = (Lane0, Lane1, Lane2, Lane3);
        }

        /// <summary>Adds the next piece.</summary>
        public void Add(byte* data, nuint length)
        {
            Debug.Assert(length % BlockBytes == 0);
            for (var end = data + length; data < end; data += BlockBytes)
            {
                _lane0 = BitOperations.Crc32C(_lane0, Word(data));
                _lane1 = BitOperations.Crc32C(_lane1, Word(data + 8));
                _lane2 = BitOperations.Crc32C(_lane2, Word(data + 16));
                _lane3 = BitOperations.Crc32C(_lane3, Word(data + 24));
            }

            _length += length;
        }

        /// <summary>Returns the checksum of all added pieces.</summary>
        public readonly ulong Finish(ulong seed) => FoldLanes(_lane0, _lane1, _lane2, _lane3, _length, seed);
    }
}
