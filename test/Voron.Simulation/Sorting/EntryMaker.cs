using System.Buffers.Binary;

namespace Voron.Simulation.Sorting;

/// <summary>The kinds of keys of an <see cref="EntryMaker"/>.</summary>
internal enum KeyKind
{
    /// <summary>Sixteen random bytes.</summary>
    Random,

    /// <summary>One to three random bytes: most of them occur often, and many are prefixes of others.</summary>
    Short,

    /// <summary>A long prefix, which all keys share, and eight random bytes.</summary>
    Prefixed,

    /// <summary>Three parts of nine bytes, each one of a few: keys differ late, and groups of them share much.</summary>
    Nested,

    /// <summary>Zeros alone, of different numbers.</summary>
    Zeros,

    /// <summary>Random bytes of any length up to the longest.</summary>
    Long,

    /// <summary>Numbers that ascend.</summary>
    Ascending,

    /// <summary>Numbers that descend.</summary>
    Descending,

    /// <summary>Numbers that ascend, but for one of a hundred.</summary>
    NearlyAscending,
}

/// <summary>Makes keys and values for a sort.</summary>
internal sealed class EntryMaker(Random random, KeyKind kind, int maxKeyBytes)
{
    private const int Parts = 3;
    private const int PartBytes = 9;
    private static readonly byte[] Prefix = "a prefix that is longer than a head/"u8.ToArray();

    private long _number;

    public byte[] NextKey()
    {
        _number++;
        switch (kind)
        {
            case KeyKind.Random:
                return Bytes(16);
            case KeyKind.Short:
                return Bytes(1 + random.Next(3));
            case KeyKind.Prefixed:
                return [.. Prefix, .. Bytes(8)];
            case KeyKind.Nested:
                var nested = new byte[Parts * PartBytes];
                for (var part = 0; part < Parts; part++)
                    nested.AsSpan(part * PartBytes, PartBytes).Fill((byte)random.Next(20));
                return nested;
            case KeyKind.Zeros:
                return new byte[1 + random.Next(40)];
            case KeyKind.Long:
                return Bytes(1 + random.Next(random.Next(8) == 0 ? maxKeyBytes : 200));
            case KeyKind.Ascending:
                return Number(_number);
            case KeyKind.Descending:
                return Number(long.MaxValue - _number);
            default:
                return Number(random.Next(100) == 0 ? random.Next(1000) : _number);
        }
    }

    /// <summary>Makes a value of a length, half of which a compression saves if it is compressible.</summary>
    public byte[] NextValue(int length, bool isCompressible)
    {
        var value = new byte[length];
        random.NextBytes(value.AsSpan(0, isCompressible ? length / 2 : length));
        return value;
    }

    private static byte[] Number(long number)
    {
        var key = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, number);
        return key;
    }

    private byte[] Bytes(int length)
    {
        var bytes = new byte[length];
        random.NextBytes(bytes);
        return bytes;
    }
}
