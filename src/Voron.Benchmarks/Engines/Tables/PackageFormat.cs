using System.Buffers.Binary;
using System.Text;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Engines.Tables;

/// <summary>
/// The bytes of a row in an engine without rows: size, priority and number of tags, then the lengths of all texts, then the texts in UTF-8.
/// </summary>
internal static class PackageFormat
{
    /// <summary>More bytes than any row has.</summary>
    public const int MostBytes = 4096;

    private const int PriorityOffset = sizeof(int);
    private const int TagsOffset = PriorityOffset + sizeof(int);
    private const int LengthsOffset = TagsOffset + sizeof(ushort);
    private const int Texts = 5;

    /// <summary>Writes a row.</summary>
    /// <returns>Its length.</returns>
    public static int Write(Package row, Span<byte> bytes)
    {
        SetSize(bytes, row.Size);
        BinaryPrimitives.WriteInt32LittleEndian(bytes[PriorityOffset..], row.Priority);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes[TagsOffset..], (ushort)row.Tags.Length);
        var end = LengthsOffset + (sizeof(ushort) * (Texts + row.Tags.Length));
        var lengths = bytes[LengthsOffset..end];
        foreach (var text in (ReadOnlySpan<string>)[row.Id, row.Section, row.Source, row.Version, row.Description])
            AddText(text, bytes, ref lengths, ref end);
        foreach (var tag in row.Tags)
            AddText(tag, bytes, ref lengths, ref end);
        return end;
    }

    /// <summary>Changes the size in the bytes of a row.</summary>
    public static void SetSize(Span<byte> bytes, int size) => BinaryPrimitives.WriteInt32LittleEndian(bytes, size);

    public static Package Read(ReadOnlySpan<byte> bytes)
    {
        var tags = new string[BinaryPrimitives.ReadUInt16LittleEndian(bytes[TagsOffset..])];
        var offset = LengthsOffset + (sizeof(ushort) * (Texts + tags.Length));
        var lengths = bytes[LengthsOffset..offset];
        var row = new Package
        {
            Size = BinaryPrimitives.ReadInt32LittleEndian(bytes),
            Priority = BinaryPrimitives.ReadInt32LittleEndian(bytes[PriorityOffset..]),
            Tags = tags,
            Id = TakeText(bytes, ref lengths, ref offset),
            Section = TakeText(bytes, ref lengths, ref offset),
            Source = TakeText(bytes, ref lengths, ref offset),
            Version = TakeText(bytes, ref lengths, ref offset),
            Description = TakeText(bytes, ref lengths, ref offset),
        };
        for (var i = 0; i < tags.Length; i++)
            tags[i] = TakeText(bytes, ref lengths, ref offset);
        return row;
    }

    private static void AddText(string text, Span<byte> bytes, ref Span<byte> lengths, ref int end)
    {
        var length = Encoding.UTF8.GetBytes(text, bytes[end..]);
        BinaryPrimitives.WriteUInt16LittleEndian(lengths, (ushort)length);
        lengths = lengths[sizeof(ushort)..];
        end += length;
    }

    private static string TakeText(ReadOnlySpan<byte> bytes, ref ReadOnlySpan<byte> lengths, ref int offset)
    {
        var length = BinaryPrimitives.ReadUInt16LittleEndian(lengths);
        lengths = lengths[sizeof(ushort)..];
        var text = Encoding.UTF8.GetString(bytes.Slice(offset, length));
        offset += length;
        return text;
    }
}
