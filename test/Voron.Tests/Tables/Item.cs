using Voron.Tables;

namespace Voron.Tests.Tables;

/// <summary>A row of the tests of tables.</summary>
internal sealed record Item(string Id, string Section = "none", int Size = 0, string Source = "s")
{
    public string[] Tags { get; init; } = [];

    public string Text { get; init; } = "";

    public bool Equals(Item? other) =>
        other != null
        && (Id, Section, Size, Source, Text) == (other.Id, other.Section, other.Size, other.Source, other.Text)
        && Tags.SequenceEqual(other.Tags);

    public override int GetHashCode() => Id.GetHashCode(StringComparison.Ordinal);
}

/// <summary>Writes the fields of an <see cref="Item"/>.</summary>
internal sealed class ItemCodec : IRowCodec<Item>
{
    public void Write(in Item row, ref RowWriter writer)
    {
        writer.WriteInt32(row.Size);
        writer.WriteByte((byte)row.Tags.Length);
        writer.WriteString(row.Id);
        writer.WriteString(row.Section);
        writer.WriteString(row.Source);
        foreach (var tag in row.Tags)
            writer.WriteString(tag);
        writer.WriteString(row.Text);
    }

    public Item Read(ref RowReader reader)
    {
        var size = reader.ReadInt32();
        var tags = new string[reader.ReadByte()];
        var (id, section, source) = (reader.ReadString(), reader.ReadString(), reader.ReadString());
        for (var i = 0; i < tags.Length; i++)
            tags[i] = reader.ReadString();
        return new Item(id, section, size, source) { Tags = tags, Text = reader.ReadString() };
    }
}
