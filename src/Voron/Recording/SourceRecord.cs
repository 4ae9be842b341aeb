using System.Runtime.InteropServices;

namespace Voron.Recording;

/// <summary>The start of the record of a feed's source. The name of the source follows.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct SourceRecord
{
    public const int Size = 16;

    /// <summary>0 for a tree, 1 for a table.</summary>
    [FieldOffset(0)]
    public byte Kind;

    [FieldOffset(1)]
    public RecordedParts Parts;

    /// <summary>The tree whose changes are recorded; for a table, the tree of its rows.</summary>
    [FieldOffset(4)]
    public uint TreeId;

    /// <summary>The transaction in which the source ended; 0 while its changes are recorded.</summary>
    [FieldOffset(8)]
    public long EndedId;

    /// <summary>True for a table; false for a tree.</summary>
    public bool IsTable
    {
        readonly get => Kind != 0;
        init => Kind = value ? (byte)1 : (byte)0;
    }

    /// <summary>Reads a record; returns false if the bytes are not a valid record.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out SourceRecord record, out ReadOnlySpan<byte> name)
    {
        record = default;
        name = default;
        if (bytes.Length <= Size || bytes[0] > 1)
            return false;
        record = MemoryMarshal.Read<SourceRecord>(bytes);
        name = bytes[Size..];
        return true;
    }

    public readonly byte[] ToBytes(ReadOnlySpan<byte> name)
    {
        var bytes = new byte[Size + name.Length];
        MemoryMarshal.Write(bytes, this);
        name.CopyTo(bytes.AsSpan(Size));
        return bytes;
    }
}
