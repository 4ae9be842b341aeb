using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Voron.Tables;

/// <summary>Stores each row as a single variable field, a JSON document.</summary>
/// <param name="type">The type of the rows.</param>
internal sealed class JsonRowCodec<TRow>(JsonTypeInfo<TRow> type) : IRowCodec<TRow>
{
    public void Write(in TRow row, ref RowWriter writer)
    {
        if (row is null)
            throw new ArgumentNullException(nameof(row));
        var json = JsonWriterPool.Rent(writer.BeginBytes(), type.Options);
        JsonSerializer.Serialize(json, row, type);

        // An exception leaves the writer in the middle of a document, so it is not reused.
        JsonWriterPool.Return(json);
        writer.EndBytes();
    }

    public TRow Read(ref RowReader reader)
    {
        try
        {
            var row = JsonSerializer.Deserialize(reader.ReadBytes(), type);
            if (row is null)
                reader.Refuse("its JSON document is null");
            return row;
        }
        catch (JsonException e)
        {
            throw reader.Failure($"its JSON document is not one of the type {typeof(TRow).Name}: {e.Message.TrimEnd('.')}", e);
        }
    }
}
