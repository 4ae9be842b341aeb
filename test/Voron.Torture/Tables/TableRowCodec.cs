using Voron.Tables;

namespace Voron.Torture.Tables;

/// <summary>Fields of fixed size and of variable size, mixed, some of them null.</summary>
internal sealed class TableRowCodec : IRowCodec<TableRow>
{
    public void Write(in TableRow row, ref RowWriter writer)
    {
        writer.WriteInt64(row.Number);
        writer.WriteString(row.Name);
        writer.WriteString(row.City);
        writer.WriteInt32(row.Size);
        writer.WriteNullableInt32(row.Serial);
        writer.WriteNullableInt64(row.Expires);
        writer.WriteByte((byte)row.Tags.Length);
        foreach (var tag in row.Tags)
            writer.WriteString(tag);
        if (row.Trap == RowTraps.Codec)
            throw new TrapException();
        writer.WriteByte((byte)row.Codes.Length);
        foreach (var code in row.Codes)
            writer.WriteInt32(code);
        if (row.Body.Length == 0)
            writer.WriteNull();
        else
            writer.WriteBytes(row.Body);
    }

    public TableRow Read(ref RowReader reader)
    {
        var number = reader.ReadInt64();
        var name = reader.ReadString();
        var city = reader.ReadString();
        var size = reader.ReadInt32();
        var serial = reader.ReadNullableInt32();
        var expires = reader.ReadNullableInt64();
        var tags = new string[reader.ReadByte()];
        for (var i = 0; i < tags.Length; i++)
            tags[i] = reader.ReadString();
        var codes = new int[reader.ReadByte()];
        for (var i = 0; i < codes.Length; i++)
            codes[i] = reader.ReadInt32();
        var body = reader.TryReadNull() ? [] : reader.ReadBytes().ToArray();
        return new TableRow(name, number)
        {
            City = city,
            Size = size,
            Serial = serial,
            Expires = expires,
            Tags = tags,
            Codes = codes,
            Body = body,
        };
    }
}
