using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace Voron.Tables;

/// <summary>Row ids as keys of the row tree, and as values of unique indexes: 48 bits, big-endian.</summary>
internal static class RowIdBytes
{
    public const int Bytes = 6;

    /// <summary>The highest row id. In a shared index, ids contain the member number of the table in the bits above it.</summary>
    public const long Max = (1L << 48) - 1;

    public static ReadOnlySpan<byte> Write(long rowId, Span<byte> buffer)
    {
        BinaryPrimitives.WriteUInt16BigEndian(buffer, (ushort)(rowId >> 32));
        BinaryPrimitives.WriteUInt32BigEndian(buffer[2..], (uint)rowId);
        return buffer[..Bytes];
    }

    /// <summary>Returns a primary key that is a row id; -1 for keys of other types.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static long Of<TKey>(TKey key) => typeof(TKey) == typeof(long) ? Unsafe.As<TKey, long>(ref key) : -1;

    /// <returns>False if the bytes are not a row id.</returns>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out long rowId)
    {
        rowId = 0;
        if (bytes.Length != Bytes)
            return false;
        rowId = ((long)BinaryPrimitives.ReadUInt16BigEndian(bytes) << 32) | BinaryPrimitives.ReadUInt32BigEndian(bytes[2..]);
        return true;
    }
}
