using System.Buffers.Binary;

namespace Voron.Trees.Pages;

/// <summary>Keys of fixed-size trees as bytes, for code that handles the keys of all trees alike. The bytes sort in key order.</summary>
internal static class ArrayKey
{
    public const int Size = sizeof(long);

    public static byte[] ToBytes(long key)
    {
        var bytes = new byte[Size];
        Write(key, bytes);
        return bytes;
    }

    public static void Write(long key, Span<byte> bytes) => BinaryPrimitives.WriteInt64BigEndian(bytes, key ^ long.MinValue);

    /// <summary>Returns the key. Bytes of any length but eight yield the lowest key.</summary>
    public static long FromBytes(ReadOnlySpan<byte> bytes) =>
        bytes.Length == Size ? BinaryPrimitives.ReadInt64BigEndian(bytes) ^ long.MinValue : long.MinValue;
}
