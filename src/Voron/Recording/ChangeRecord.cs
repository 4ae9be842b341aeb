using System.Buffers.Binary;
using Voron.Testing;

namespace Voron.Recording;

/// <summary>A change as stored in a feed.</summary>
/// <remarks>
/// <code>
/// 0 | 1  operation
/// 1 | 1  flags
///        time (8): 100 ns since 0001-01-01 UTC, in the first change of a transaction
///        number of the source
///        length of the key, key
///        length of the old value, old value
///        new value: the rest
/// </code>
/// Numbers without a size have seven bits in each byte, the lowest first, and the high bit set in all bytes but the last. A range stores its first
/// key as its key, and the key after its last one as its new value; a renamed source stores its new name as its new value.
/// </remarks>
internal readonly ref struct ChangeRecord
{
    public const byte HasTime = 1;
    public const byte HasOld = 2;
    public const byte HasNew = 4;

    /// <summary>The new value is too large for the feed, or bypassed the journal.</summary>
    public const byte LeavesOutNew = 8;

    /// <summary>The old value is too large for the feed.</summary>
    public const byte LeavesOutOld = 16;

    /// <summary>The length of the key of a change.</summary>
    public const int KeyBytes = sizeof(long) + sizeof(uint);

    private const int HeadBytes = 2;
    private const int MaxNumberBytes = 5;
    private const byte KnownFlags = HasTime | HasOld | HasNew | LeavesOutNew | LeavesOutOld;

    public RecordedOperation Operation { get; init; }

    public byte Flags { get; init; }

    /// <summary>The time of the transaction; 0 if the change does not carry it.</summary>
    public long Time { get; init; }

    /// <summary>The number of the source in its feed.</summary>
    public uint Source { get; init; }

    public ReadOnlySpan<byte> Key { get; init; }

    public ReadOnlySpan<byte> Old { get; init; }

    public ReadOnlySpan<byte> New { get; init; }

    /// <summary>The maximum length of the record in bytes.</summary>
    public int MaxBytes => HeadBytes + sizeof(long) + 3 * MaxNumberBytes + Key.Length + Old.Length + New.Length;

    /// <summary>
    /// Writes the key of a change in the tree of its feed: the transaction id and the position in the transaction, both big-endian.
    /// </summary>
    public static ReadOnlySpan<byte> WriteKey(long transactionId, uint ordinal, Span<byte> buffer)
    {
        BinaryPrimitives.WriteInt64BigEndian(buffer, transactionId);
        BinaryPrimitives.WriteUInt32BigEndian(buffer[sizeof(long)..], ordinal);
        return buffer[..KeyBytes];
    }

    /// <summary>Reads a key; false if the bytes are not one.</summary>
    public static bool TryReadKey(ReadOnlySpan<byte> key, out long transactionId, out uint ordinal)
    {
        transactionId = 0;
        ordinal = 0;
        if (key.Length != KeyBytes)
            return false;
        transactionId = BinaryPrimitives.ReadInt64BigEndian(key);
        ordinal = BinaryPrimitives.ReadUInt32BigEndian(key[sizeof(long)..]);
        return transactionId > 0;
    }

    /// <summary>Writes the record.</summary>
    /// <returns>Its length in bytes.</returns>
    public int Write(Span<byte> buffer)
    {
        buffer[0] = (byte)Operation;
        buffer[1] = Flags;
        var at = HeadBytes;
        if ((Flags & HasTime) != 0)
        {
            BinaryPrimitives.WriteInt64LittleEndian(buffer[at..], Time);
            at += sizeof(long);
        }

        at += WriteNumber(buffer[at..], Source);
        at += WriteBytes(buffer[at..], Key);
        if ((Flags & HasOld) != 0)
            at += WriteBytes(buffer[at..], Old);
        New.CopyTo(buffer[at..]);
        return at + New.Length;
    }

    /// <summary>Reads a record; false if the bytes are not one.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out ChangeRecord record)
    {
        record = default;
        if (bytes.Length < HeadBytes || bytes[0] is 0 or > (byte)RecordedOperation.RemoveSource || (bytes[1] & ~KnownFlags) != 0)
            return false;
        var flags = bytes[1];
        var rest = bytes[HeadBytes..];
        var time = 0L;
        if ((flags & HasTime) != 0)
        {
            if (rest.Length < sizeof(long))
                return false;
            time = BinaryPrimitives.ReadInt64LittleEndian(rest);
            if (time < 0 || time > DateTime.MaxValue.Ticks)
                return false;
            rest = rest[sizeof(long)..];
        }

        ReadOnlySpan<byte> old = default;
        if (!TryReadNumber(ref rest, out var source) || !TryReadBytes(ref rest, out var key))
            return false;
        if ((flags & HasOld) != 0 && !TryReadBytes(ref rest, out old))
            return false;
        if ((flags & HasNew) == 0 && !rest.IsEmpty)
            return false;
        record = new ChangeRecord
        {
            Operation = (RecordedOperation)bytes[0],
            Flags = flags,
            Time = time,
            Source = source,
            Key = key,
            Old = old,
            New = rest,
        };
        return true;
    }

    private static int WriteBytes(Span<byte> buffer, ReadOnlySpan<byte> bytes)
    {
        var at = WriteNumber(buffer, (uint)bytes.Length);
        bytes.CopyTo(buffer[at..]);
        return at + bytes.Length;
    }

    private static int WriteNumber(Span<byte> buffer, uint number)
    {
        var at = 0;
        for (; number > 0x7F; number >>= 7)
            buffer[at++] = (byte)(number | 0x80);
        buffer[at] = (byte)number;
        return at + 1;
    }

    private static bool TryReadBytes(scoped ref ReadOnlySpan<byte> rest, out ReadOnlySpan<byte> bytes)
    {
        bytes = default;
        if (!TryReadNumber(ref rest, out var length) || (length > rest.Length && !PlantedFault.BelieveChangeLengths))
            return false;
        bytes = rest[..(int)length];
        rest = rest[(int)length..];
        return true;
    }

    private static bool TryReadNumber(scoped ref ReadOnlySpan<byte> rest, out uint number)
    {
        var sum = 0UL;
        number = 0;
        for (var i = 0; i < Math.Min(rest.Length, MaxNumberBytes); i++)
        {
            sum |= (ulong)(rest[i] & 0x7F) << (7 * i);
            if ((rest[i] & 0x80) != 0)
                continue;
            if (sum > uint.MaxValue)
                return false;
            number = (uint)sum;
            rest = rest[(i + 1)..];
            return true;
        }

        return false;
    }
}

/// <summary>The kind of a change in a feed. The numbers are stored.</summary>
internal enum RecordedOperation : byte
{
    None = 0,
    Put = 1,
    Insert = 2,
    Update = 3,
    Delete = 4,
    DeleteRange = 5,
    Drop = 6,
    Rename = 7,
    AddSource = 8,
    RemoveSource = 9,
}
