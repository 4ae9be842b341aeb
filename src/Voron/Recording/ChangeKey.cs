using System.Buffers.Binary;

namespace Voron.Recording;

/// <summary>The key of a change in the tree of its feed: the transaction id and the position in the transaction, both big-endian.</summary>
internal static class ChangeKey
{
    public const int Bytes = sizeof(long) + sizeof(uint);

    public static ReadOnlySpan<byte> Write(long transactionId, uint ordinal, Span<byte> buffer)
    {
        BinaryPrimitives.WriteInt64BigEndian(buffer, transactionId);
        BinaryPrimitives.WriteUInt32BigEndian(buffer[sizeof(long)..], ordinal);
        return buffer[..Bytes];
    }

    /// <summary>Reads a key; false if the bytes are not one.</summary>
    public static bool TryRead(ReadOnlySpan<byte> key, out long transactionId, out uint ordinal)
    {
        transactionId = 0;
        ordinal = 0;
        if (key.Length != Bytes)
            return false;
        transactionId = BinaryPrimitives.ReadInt64BigEndian(key);
        ordinal = BinaryPrimitives.ReadUInt32BigEndian(key[sizeof(long)..]);
        return transactionId > 0;
    }
}
