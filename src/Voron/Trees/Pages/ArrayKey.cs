using System.Buffers.Binary;

namespace Voron.Trees.Pages;

/// <summary>
/// Keys of fixed-size trees as bytes, for code that handles the keys of all trees in the same way. The order of the bytes is that of the keys.
/// </summary>
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

    /// <summary>Returns the key. Bytes that are no key stand for the lowest one.</summary>
    public static long FromBytes(ReadOnlySpan<byte> bytes) =>
        bytes.Length == Size ? BinaryPrimitives.ReadInt64BigEndian(bytes) ^ long.MinValue : long.MinValue;
}
