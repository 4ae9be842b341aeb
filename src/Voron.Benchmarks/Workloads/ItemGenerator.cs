using System.Buffers.Binary;

namespace Voron.Benchmarks.Workloads;

internal enum KeyOrder
{
    /// <summary>A fixed prefix of 8 bytes and a big-endian counter of 8 bytes, so that each key is the greatest so far.</summary>
    Sequential,

    /// <summary>16 bytes mixed from the item's number: distinct and without order.</summary>
    Random,
}

/// <summary>Keys and values as a pure function of the item's number, so that readers need no list of items.</summary>
internal readonly struct ItemGenerator(KeyOrder order)
{
    public const int KeyBytes = 16;
    public const int ValueBytes = 128;

    /// <summary>Half of a value is noise and half is text, as in a small document.</summary>
    public const int RandomValueBytes = 64;

    private const ulong KeyPrefix = 0x766F_726F_6E2F_0000;
    private const ulong KeySeed = 0x5851_F42D_4C95_7F2D;
    private const ulong KeyTailSeed = 0x1405_7B7E_F767_814F;
    private const ulong ValueSeed = 0x2545_F491_4F6C_DD1D;
    private const ulong PickSeed = 0x9FB2_1C65_1E98_DF25;
    private const ulong GoldenGamma = 0x9E37_79B9_7F4A_7C15;

    public static ReadOnlySpan<byte> FixedText => "{\"kind\":\"benchmark item\",\"state\":\"new\",\"tags\":[\"one\",\"two\",\"6\"]}"u8[..64];

    public void WriteKey(long item, Span<byte> key)
    {
        var number = (ulong)item;
        if (order == KeyOrder.Sequential)
        {
            BinaryPrimitives.WriteUInt64BigEndian(key, KeyPrefix);
            BinaryPrimitives.WriteUInt64BigEndian(key[8..], number);
            return;
        }
        // The mixer is a bijection of 64 bits, so the first half alone makes keys distinct.
        BinaryPrimitives.WriteUInt64LittleEndian(key, Mix(number + KeySeed));
        BinaryPrimitives.WriteUInt64LittleEndian(key[8..], Mix(number + KeyTailSeed));
    }

    /// <summary>Writes the noise half of version <paramref name="version"/> of an item's value.</summary>
    public static void WriteRandomValue(long item, int version, Span<byte> value)
    {
        var state = Mix((ulong)item + (ValueSeed * (uint)(version + 1)));
        for (var offset = 0; offset < RandomValueBytes; offset += sizeof(ulong))
        {
            state += GoldenGamma;
            BinaryPrimitives.WriteUInt64LittleEndian(value[offset..], Mix(state));
        }
    }

    /// <summary>Returns the item for the <paramref name="operation"/>-th random operation of a round.</summary>
    public static long PickItem(long operation, int round, long itemCount)
    {
        var random = Mix((ulong)operation + (PickSeed * (uint)(round + 1)));
        return (long)Math.BigMul(random, (ulong)itemCount, out _);
    }

    /// <summary>The finaliser of splitmix64.</summary>
    private static ulong Mix(ulong x)
    {
        x = (x ^ (x >> 30)) * 0xBF58_476D_1CE4_E5B9;
        x = (x ^ (x >> 27)) * 0x94D0_49BB_1331_11EB;
        return x ^ (x >> 31);
    }
}
