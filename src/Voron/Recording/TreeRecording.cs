using System.Runtime.InteropServices;

namespace Voron.Recording;

/// <summary>How the changes of a tree are recorded: the properties of the feed and the source that a writer needs.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct TreeRecording
{
    public const int Size = 16;

    /// <summary>0 for a tree, 1 for a table.</summary>
    [FieldOffset(0)]
    public byte Kind;

    [FieldOffset(1)]
    public RecordedParts Parts;

    [FieldOffset(2)]
    public ushort Feed;

    [FieldOffset(4)]
    public uint Source;

    [FieldOffset(8)]
    public int MaxValueBytes;

    /// <summary>True for a table; false for a tree.</summary>
    public bool IsTable
    {
        readonly get => Kind != 0;
        init => Kind = value ? (byte)1 : (byte)0;
    }

    /// <summary>Returns a recording whose source has no number yet.</summary>
    /// <param name="feed">The number of the feed.</param>
    /// <param name="isTable">True for a table; false for a tree.</param>
    /// <param name="parts">The number of the <see cref="RecordedParts"/>.</param>
    /// <param name="maxValueBytes">The limit of the feed.</param>
    public static TreeRecording Of(ushort feed, bool isTable, byte parts, int maxValueBytes) =>
        new() { Feed = feed, IsTable = isTable, Parts = (RecordedParts)parts, MaxValueBytes = maxValueBytes };

    /// <summary>Reads a record; returns false if the bytes are not a valid record.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out TreeRecording record)
    {
        record = default;
        if (bytes.Length != Size || bytes[0] > 1)
            return false;
        record = MemoryMarshal.Read<TreeRecording>(bytes);
        return record.Feed != 0 && record.MaxValueBytes >= 0;
    }

    public readonly byte[] ToBytes()
    {
        var bytes = new byte[Size];
        MemoryMarshal.Write(bytes, this);
        return bytes;
    }
}
