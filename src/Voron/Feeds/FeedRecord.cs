using System.Runtime.InteropServices;

namespace Voron.Feeds;

/// <summary>The record of a feed in its environment.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct FeedRecord
{
    public const int Size = 80;
    public const byte CurrentForm = 1;

    [FieldOffset(0)]
    public byte Form;

    /// <summary>The number of the feed, never used for another one.</summary>
    [FieldOffset(2)]
    public ushort Number;

    [FieldOffset(4)]
    public int MaxValueBytes;

    /// <summary>A random number stored in each position, which exposes positions of another feed with the same name.</summary>
    [FieldOffset(8)]
    public long Stamp;

    /// <summary>The transaction that created the feed.</summary>
    [FieldOffset(16)]
    public long CreatedId;

    /// <summary>The transaction of the last change that was cut off; 0 if none was.</summary>
    [FieldOffset(24)]
    public long CutId;

    [FieldOffset(32)]
    public uint CutOrdinal;

    /// <summary>In units of 100 ns; <see cref="long.MaxValue"/> for no limit.</summary>
    [FieldOffset(40)]
    public long MaxAgeTicks;

    [FieldOffset(48)]
    public long MaxBytes;

    [FieldOffset(56)]
    public long HoldLimitBytes;

    /// <summary>True if all fields have possible values.</summary>
    public readonly bool IsPossible =>
        Form == CurrentForm && Number != 0 && MaxValueBytes >= 0 && CreatedId > 0 && CutId >= 0 && MaxAgeTicks >= 0 && MaxBytes >= 0
        && HoldLimitBytes >= 0;

    /// <summary>Reads a record; returns false if the bytes are not a valid record.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out FeedRecord record)
    {
        record = default;
        if (bytes.Length != Size)
            return false;
        record = MemoryMarshal.Read<FeedRecord>(bytes);
        return record.IsPossible;
    }

    public readonly byte[] ToBytes()
    {
        var bytes = new byte[Size];
        MemoryMarshal.Write(bytes, this);
        return bytes;
    }
}
