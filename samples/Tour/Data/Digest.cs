using System.Buffers.Binary;
using System.Numerics;

namespace Tour.Data;

/// <summary>
/// A number and a sum of hashes that two sets of entries have in common only if they are the same. Entries can be added in any order, and taken
/// away again.
/// </summary>
internal readonly record struct Digest(long Count, ulong Sum)
{
    private const ulong Odd0 = 0xB5AD4ECEDA1CE2A9;
    private const ulong Odd1 = 0xD6E8FEB86659FD93;

    public static Digest operator +(Digest left, Digest right) => new(left.Count + right.Count, left.Sum + right.Sum);

    public static Digest operator -(Digest left, Digest right) => new(left.Count - right.Count, left.Sum - right.Sum);

    public static Digest Of(Member member) => Of(member.Key, member.Text);

    public static Digest Of(ReadOnlySpan<byte> key, ReadOnlySpan<byte> text) => new(1, HashOf(key, text));

    /// <summary>Adds an entry so that its place among the others counts.</summary>
    public Digest ThenBy(ReadOnlySpan<byte> key, ReadOnlySpan<byte> text) => new(Count + 1, Sum + HashOf(key, text) * (ulong)(2 * Count + 1));

    /// <summary>Returns a hash of all bytes, so that its caller has read them all.</summary>
    public static ulong HashOf(ReadOnlySpan<byte> bytes)
    {
        var length = (ulong)bytes.Length;
        var (first, second) = (1u, 2u);
        for (; bytes.Length >= 2 * sizeof(ulong); bytes = bytes[(2 * sizeof(ulong))..])
        {
            first = BitOperations.Crc32C(first, BinaryPrimitives.ReadUInt64LittleEndian(bytes));
            second = BitOperations.Crc32C(second, BinaryPrimitives.ReadUInt64LittleEndian(bytes[sizeof(ulong)..]));
        }

        foreach (var rest in bytes)
            first = BitOperations.Crc32C(first, rest);
        return Mix(((ulong)second << 32 | first) ^ length * Odd0);
    }

    private static ulong HashOf(ReadOnlySpan<byte> key, ReadOnlySpan<byte> text) => Mix(HashOf(key) * Odd1 + HashOf(text));

    private static ulong Mix(ulong value)
    {
        value = (value ^ value >> 29) * Odd0;
        value = (value ^ value >> 32) * Odd1;
        return value ^ value >> 31;
    }
}
