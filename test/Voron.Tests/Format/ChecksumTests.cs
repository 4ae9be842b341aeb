using System.Numerics;
using System.Runtime.InteropServices;
using Voron.Format;

namespace Voron.Tests.Format;

[Quick]
public class ChecksumTests
{
    private const ulong Seed = 0x0123_4567_89AB_CDEF;

    [Theory]
    [InlineData(0, 0x2D21_B64D_4AFC_3EBC)]
    [InlineData(1, 0x65A7_88EF_E4F8_8654)]
    [InlineData(31, 0x692A_3F46_1FCE_2AFF)]
    [InlineData(64, 0x0B19_A7E3_979E_C1F5)]
    [InlineData(4096, 0xA1FD_613A_253A_FB87)]
    public void Golden_values_stay(int length, ulong expected)
        => Checksum.Compute(Pattern(length), Seed).Should().Be(expected);

    [Fact]
    public void Golden_seed_stays()
    {
        var id = new RandomId(0x0011_2233_4455_6677, 0x8899_AABB_CCDD_EEFF);
        Checksum.Seed(id, 42).Should().Be(0x29A8_2144_B120_88E3);

        Span<byte> bytes = stackalloc byte[16];
        MemoryMarshal.Write(bytes, id);
        Checksum.Seed(new Guid(bytes), 42).Should().Be(Checksum.Seed(id, 42));
    }

    [Fact]
    public void Agrees_with_a_bit_by_bit_reference_at_every_length()
    {
        var data = Pattern(300);
        for (var length = 0; length <= data.Length; length++)
        {
            var expected = Reference(data.AsSpan(0, length), Seed);
            Checksum.Compute(data.AsSpan(0, length), Seed).Should().Be(expected, "the input has {0} bytes", length);
        }

        Checksum.Compute(Pattern(4096), Seed).Should().Be(Reference(Pattern(4096), Seed));
    }

    [Fact]
    public void The_hardware_step_is_crc32c()
    {
        // The check value that the catalogues of CRCs give for the digits 1 to 9.
        var crc = uint.MaxValue;
        foreach (var digit in "123456789"u8)
            crc = ReferenceCrc(crc, [digit]);
        (~crc).Should().Be(0xE306_9283);

        BitOperations.Crc32C(77u, 0x1122_3344_5566_7788UL)
            .Should().Be(ReferenceCrc(77, [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]));
    }

    [Theory]
    [InlineData(4096)]
    [InlineData(61)]
    public void Every_single_bit_counts(int length)
    {
        var data = Pattern(length);
        var seen = new HashSet<ulong> { Checksum.Compute(data, Seed) };
        for (var bit = 0; bit < length * 8; bit++)
        {
            data[bit >> 3] ^= (byte)(1 << (bit & 7));
            seen.Add(Checksum.Compute(data, Seed)).Should().BeTrue("bit {0} was flipped", bit);
            data[bit >> 3] ^= (byte)(1 << (bit & 7));
        }
    }

    [Theory]
    [InlineData(8)]
    [InlineData(32)]
    [InlineData(512)]
    public void Swapped_blocks_count(int block)
    {
        var data = Pattern(4096);
        var original = Checksum.Compute(data, Seed);
        for (var first = 0; first < 4096; first += block)
        {
            // Neighbours, which lie in different lanes if they are words, and positions further apart, some of them in the same lane.
            foreach (var distance in new[] { block, 2 * block, 32 * Math.Max(1, block / 32), 2048 })
            {
                if (first + distance + block > data.Length || distance < block)
                    continue;
                Swap(data, first, first + distance, block);
                Checksum.Compute(data, Seed).Should().NotBe(original, "{0} and {1} were swapped", first, first + distance);
                Swap(data, first, first + distance, block);
            }
        }
    }

    [Fact]
    public void Swapped_lanes_count()
    {
        var original = Checksum.Compute(Pattern(4096), Seed);
        for (var one = 0; one < 4; one++)
        {
            for (var other = one + 1; other < 4; other++)
            {
                var data = Pattern(4096);
                for (var block = 0; block < data.Length; block += 32)
                    Swap(data, block + 8 * one, block + 8 * other, 8);
                Checksum.Compute(data, Seed).Should().NotBe(original, "lanes {0} and {1} were swapped", one, other);
            }
        }
    }

    [Fact]
    public void The_same_change_in_several_lanes_counts()
    {
        var original = Checksum.Compute(new byte[4096], Seed);
        for (var lanes = 1; lanes < 16; lanes++)
        {
            var data = new byte[4096];
            for (var lane = 0; lane < 4; lane++)
                data[1024 + 8 * lane] = (byte)((lanes >> lane) & 1);
            Checksum.Compute(data, Seed).Should().NotBe(original, "lanes {0:x} were changed alike", lanes);
        }
    }

    [Fact]
    public void Zero_pages_of_different_numbers_environments_and_lengths_differ()
    {
        var zeros = new byte[65536];
        var seen = new HashSet<ulong>();
        for (var page = 0L; page < 10_000; page++)
            seen.Add(Checksum.Compute(zeros.AsSpan(0, 4064), Checksum.Seed(new RandomId(0, 1), page))).Should().BeTrue();
        for (var environment = 2; environment < 1000; environment++)
        {
            seen.Add(Checksum.Compute(zeros.AsSpan(0, 4064), Checksum.Seed(new RandomId(0, (ulong)environment), 0))).Should().BeTrue();
            seen.Add(Checksum.Compute(zeros.AsSpan(0, 4064), Checksum.Seed(new RandomId((ulong)environment, 0), 0))).Should().BeTrue();
        }

        for (var length = 0; length < 4064; length++)
            seen.Add(Checksum.Compute(zeros.AsSpan(0, length), Checksum.Seed(new RandomId(0, 1), 0))).Should().BeTrue();
    }

    [Fact]
    public void Half_of_the_bits_change_with_any_bit_of_seed_or_data()
    {
        var data = Pattern(4064);
        var original = Checksum.Compute(data, Seed);
        long changed = 0;
        for (var bit = 0; bit < 64; bit++)
        {
            changed += BitOperations.PopCount(original ^ Checksum.Compute(data, Seed ^ (1UL << bit)));
            data[100 + bit] ^= 0x10;
            changed += BitOperations.PopCount(original ^ Checksum.Compute(data, Seed));
            data[100 + bit] ^= 0x10;
        }

        (changed / 128.0).Should().BeApproximately(32, 2);
    }

    [Fact]
    public void A_checksum_of_zero_is_replaced()
    {
        // The seed for which an empty input gives zero, found by running the folds backwards.
        Checksum.Compute([], SeedThatGivesZero()).Should().Be(Odd2);
        Checksum.Compute([], SeedThatGivesZero() + 1).Should().NotBe(Odd2).And.NotBe(0);
    }

    private const ulong Odd0 = 0xB5AD_4ECE_DA1C_E2A9;
    private const ulong Odd1 = 0xD6E8_FEB8_6659_FD93;
    private const ulong Odd2 = 0x8F1B_BCDC_BFA5_3E0B;

    private static readonly uint[] LaneStarts = [0x5CB9_1A2D, 0xA3D7_6E41, 0x1F64_C8B3, 0xE82B_357F];

    private static ulong Reference(ReadOnlySpan<byte> data, ulong seed)
    {
        var padded = new byte[(data.Length + 7) / 8 * 8];
        data.CopyTo(padded);
        var lanes = (uint[])LaneStarts.Clone();
        for (var word = 0; word < padded.Length / 8; word++)
            lanes[word % 4] = ReferenceCrc(lanes[word % 4], padded.AsSpan(8 * word, 8));

        var state = seed ^ ((ulong)data.Length * Odd0);
        for (var pair = 0; pair < 4; pair += 2)
        {
            state = (state << 23) | (state >> 41);
            state ^= lanes[pair] + ((ulong)lanes[pair + 1] << 32);
            state *= Odd1;
            state ^= state >> 32;
            state *= Odd2;
        }

        state = (state ^ (state >> 29)) * Odd0;
        state = (state ^ (state >> 32)) * Odd1;
        state ^= state >> 31;
        return state == 0 ? Odd2 : state;
    }

    /// <summary>Computes CRC32C one bit at a time: the reflected Castagnoli polynomial, no inversions.</summary>
    private static uint ReferenceCrc(uint crc, ReadOnlySpan<byte> data)
    {
        foreach (var b in data)
        {
            crc ^= b;
            for (var bit = 0; bit < 8; bit++)
                crc = (crc >> 1) ^ ((crc & 1) * 0x82F6_3B78);
        }

        return crc;
    }

    private static ulong SeedThatGivesZero()
    {
        // The avalanche maps only zero to zero, so the state before it is zero. The same is true of the multiplications of a fold, so a
        // fold gives zero where the rotated state equals its lanes.
        var beforeSecond = BitOperations.RotateRight(LaneStarts[2] | ((ulong)LaneStarts[3] << 32), 23);
        var product = beforeSecond * Inverse(Odd2);
        product ^= product >> 32;
        return BitOperations.RotateRight((product * Inverse(Odd1)) ^ (LaneStarts[0] | ((ulong)LaneStarts[1] << 32)), 23);
    }

    private static ulong Inverse(ulong odd)
    {
        var inverse = odd;
        for (var i = 0; i < 6; i++)
            inverse *= 2 - odd * inverse;
        return inverse;
    }

    private static byte[] Pattern(int length)
    {
        // A linear congruential generator, so that golden values do not depend on a library's random numbers.
        var state = 12345u;
        var data = new byte[length];
        for (var i = 0; i < length; i++)
        {
            state = state * 1664525 + 1013904223;
            data[i] = (byte)(state >> 24);
        }

        return data;
    }

    private static void Swap(byte[] data, int left, int right, int length)
    {
        var kept = data.AsSpan(left, length).ToArray();
        data.AsSpan(right, length).CopyTo(data.AsSpan(left, length));
        kept.CopyTo(data.AsSpan(right, length));
    }

    [Theory]
    [InlineData(32, 32)]
    [InlineData(4_064, 4_096)]
    [InlineData(65_536, 96)]
    public unsafe void In_pieces_it_is_the_same(int first, int piece)
    {
        var data = Pattern(300_000 / 32 * 32);
        fixed (byte* start = data)
        {
            var stream = new Checksum.Stream();
            stream.Add(start, (nuint)first);
            for (var at = first; at < data.Length; at += piece)
                stream.Add(start + at, (nuint)Math.Min(piece, data.Length - at));
            stream.Finish(Seed).Should().Be(Checksum.Compute(data, Seed));
        }
    }
}
