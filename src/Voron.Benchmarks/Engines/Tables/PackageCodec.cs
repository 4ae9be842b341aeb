using Voron.Benchmarks.Workloads;
using Voron.Tables;

namespace Voron.Benchmarks.Engines.Tables;

/// <summary>The fields of a package in a row of Voron: numbers first, then texts.</summary>
internal sealed class PackageCodec : IRowCodec<Package>
{
    public void Write(in Package row, ref RowWriter writer)
    {
        writer.WriteInt32(row.Size);
        writer.WriteInt32(row.Priority);
        writer.WriteByte((byte)row.Tags.Length);
        writer.WriteString(row.Id);
        writer.WriteString(row.Section);
        writer.WriteString(row.Source);
        writer.WriteString(row.Version);
        writer.WriteString(row.Description);
        foreach (var tag in row.Tags)
            writer.WriteString(tag);
    }

    public Package Read(ref RowReader reader)
    {
        var size = reader.ReadInt32();
        var priority = reader.ReadInt32();
        var tags = new string[reader.ReadByte()];
        var row = new Package
        {
            Size = size,
            Priority = priority,
            Tags = tags,
            Id = reader.ReadString(),
            Section = reader.ReadString(),
            Source = reader.ReadString(),
            Version = reader.ReadString(),
            Description = reader.ReadString(),
        };
        for (var i = 0; i < tags.Length; i++)
            tags[i] = reader.ReadString();
        return row;
    }
}
