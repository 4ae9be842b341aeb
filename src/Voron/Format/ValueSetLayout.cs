using System.Buffers.Binary;

namespace Voron.Format;

/// <summary>The limits of sets of values, and the keys of the companion that stores the values of large sets.</summary>
internal static class ValueSetLayout
{
    /// <summary>The bytes before a value in the key of a companion: the number of its set, in big-endian order.</summary>
    public const int NumberBytes = sizeof(ulong);

    /// <summary>The smallest record of a set of few values, in bytes.</summary>
    public const int LeastCapacity = 32;

    /// <summary>The largest record of a set of few values in bytes, whatever the page size.</summary>
    public const int MostCapacity = 2048;

    /// <summary>The key of the companion's entry with the number of the next large set. No set has the number 0.</summary>
    public static ReadOnlySpan<byte> NextNumberKey => [0, 0, 0, 0, 0, 0, 0, 0];

    /// <summary>Returns the maximum length of a value in bytes: with the number of its set before it, it is a key of the companion.</summary>
    public static int MaxValueLength(int pageSize) => PageStructure.MaxKeyLength(pageSize) - NumberBytes;

    /// <summary>Returns the largest record of a set of few values in bytes: even with the longest key before it, it fits in a leaf.</summary>
    public static int MaxCapacity(int pageSize) => Math.Min(pageSize / 4, MostCapacity);

    /// <summary>Returns the number of bytes that values take as a set of few values.</summary>
    public static long FewBytes(long count, long bytes) => FewValuesHeader.Size + count * FewValuesHeader.BytesOfValue + bytes;

    /// <summary>
    /// Returns whether a large set returns to the leaf: when it would take at most a quarter of the record that it outgrew, so that no set alternates
    /// between the two forms, or when it has a single value.
    /// </summary>
    public static bool IsSmall(int pageSize, long count, long bytes)
    {
        var comfortable = MaxCapacity(pageSize) / 4;
        return count == 1 || (count <= comfortable && bytes <= comfortable && FewBytes(count, bytes) <= comfortable);
    }

    /// <summary>Returns the capacity for that many bytes: capacities double, so that a growing set is copied only a few times.</summary>
    public static int CapacityFor(int bytes) => Math.Max(LeastCapacity, (int)System.Numerics.BitOperations.RoundUpToPowerOf2((uint)bytes));

    /// <summary>Writes the key of a value in the companion.</summary>
    public static ReadOnlySpan<byte> Key(long number, ReadOnlySpan<byte> value, Span<byte> buffer)
    {
        BinaryPrimitives.WriteInt64BigEndian(buffer, number);
        value.CopyTo(buffer[NumberBytes..]);
        return buffer[..(NumberBytes + value.Length)];
    }

    /// <summary>Returns the number of the set to which a key of the companion belongs.</summary>
    public static long NumberOf(ReadOnlySpan<byte> key) => BinaryPrimitives.ReadInt64BigEndian(key);
}
