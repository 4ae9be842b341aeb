using System.Runtime.InteropServices;

namespace Voron.Recording;

/// <summary>How the changes of a tree are recorded: what a writer needs of the feed and the source.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct TreeRecord
{
    public const int Size = 16;

    [FieldOffset(0)]
    public bool IsTable;

    [FieldOffset(1)]
    public RecordedParts Parts;

    [FieldOffset(2)]
    public ushort Feed;

    [FieldOffset(4)]
    public uint Source;

    [FieldOffset(8)]
    public int MaxValueBytes;

    /// <summary>Reads a record; false if the bytes are none.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out TreeRecord record)
    {
        record = default;
        if (bytes.Length != Size || bytes[0] > 1)
            return false;
        record = MemoryMarshal.Read<TreeRecord>(bytes);
        return record.Feed != 0 && record.MaxValueBytes >= 0;
    }

    public readonly byte[] ToBytes()
    {
        var bytes = new byte[Size];
        MemoryMarshal.Write(bytes, this);
        return bytes;
    }
}
