using System.Buffers;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Unicode;
using Voron.Tables;

namespace Voron.Tool.Dumps;

/// <summary>Rows of tables as JSON, without the codec that has written them, and back to the same bytes.</summary>
/// <remarks>
/// <code>
///   "rowVersion": 4194304, "definition": 1, "expires": 1790000000000,     the last one in milliseconds since 1970, if the row has a time
///   "row": {"id":"a", ...}                                                where the only field is JSON in one line; otherwise:
///   "fixed64": "AAAAAA==", "fields": ["text", null, {"b64":"AP8="}]       the fixed part, and the variable fields
/// </code>
/// </remarks>
internal static class RowForm
{
    // A line that has a document is read with the usual limit, 64.
    private const int MaxDepth = 60;

    /// <summary>The form of JSON in a line.</summary>
    public static readonly JsonWriterOptions Json = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    /// <summary>Writes the properties of a row to an object that is open.</summary>
    public static void Write(Utf8JsonWriter json, ReadOnlySpan<byte> row)
    {
        json.WriteNumber("rowVersion", RowLayout.Version(row).Value);
        json.WriteNumber("definition", RowLayout.DefinitionVersion(row));
        if (RowLayout.TryGetExpiry(row, out var expiry))
            json.WriteNumber("expires", expiry);
        var (first, start) = (RowLayout.FixedStart(row), RowLayout.VariableStart(row));
        if (TryGetDocument(row, out var document))
        {
            json.WritePropertyName("row");
            json.WriteRawValue(document, skipInputValidation: true);
            return;
        }

        if (start > first)
            json.WriteBase64String("fixed64", row[first..start]);
        json.WriteStartArray("fields");
        for (int field = 0, at = 0; field < RowLayout.FieldCount(row); field++)
        {
            var end = RowLayout.End(row, field, out var isNull);
            WriteField(json, row[(start + at)..(start + end)], isNull);
            at = end;
        }

        json.WriteEndArray();
    }

    /// <summary>Returns a row in a line: its document, or its parts.</summary>
    public static string ToLine(ReadOnlySpan<byte> row)
    {
        if (TryGetDocument(row, out var document))
            return Encoding.UTF8.GetString(document);
        var line = new ArrayBufferWriter<byte>();
        using var json = new Utf8JsonWriter(line, Json);
        json.WriteStartObject();
        Write(json, row);
        json.WriteEndObject();
        json.Flush();
        return Encoding.UTF8.GetString(line.WrittenSpan);
    }

    /// <summary>Returns the bytes of a row.</summary>
    /// <param name="version">Its version.</param>
    /// <param name="definition">The version of the definition with which it was written.</param>
    /// <param name="expiry">Its time, or null.</param>
    /// <param name="fixedPart">Its fixed part.</param>
    /// <param name="fields">Its variable fields.</param>
    public static byte[] ToBytes(long version, int definition, long? expiry, byte[] fixedPart, IReadOnlyList<byte[]?> fields)
    {
        var ends = new int[fields.Count];
        var length = 0;
        for (var i = 0; i < ends.Length; i++)
        {
            length = checked(length + (fields[i]?.Length ?? 0));
            ends[i] = fields[i] == null ? ~length : length;
        }

        var start = RowLayout.FixedStart(expiry.HasValue, ends.Length, length);
        var row = new byte[start + fixedPart.Length + length];
        RowLayout.WriteHead(row, definition, version, expiry, ends, length);
        fixedPart.CopyTo(row, start);
        var at = start + fixedPart.Length;
        foreach (var field in fields)
        {
            field?.CopyTo(row, at);
            at += field?.Length ?? 0;
        }

        return row;
    }

    /// <summary>Gets the only field of a row, if that is an object or an array of JSON without a line break.</summary>
    public static bool TryGetDocument(ReadOnlySpan<byte> row, out ReadOnlySpan<byte> document)
    {
        document = [];
        if (RowLayout.FieldCount(row) != 1 || RowLayout.VariableStart(row) > RowLayout.FixedStart(row))
            return false;
        document = row[RowLayout.VariableStart(row)..];
        return document is [(byte)'{' or (byte)'[', .., (byte)'}' or (byte)']'] && !document.ContainsAny((byte)'\n', (byte)'\r') && IsJson(document);
    }

    private static bool IsJson(ReadOnlySpan<byte> document)
    {
        var reader = new Utf8JsonReader(document, new JsonReaderOptions { MaxDepth = MaxDepth });
        try
        {
            while (reader.Read())
            {
                // Only whether there is an error counts.
            }

            return Utf8.IsValid(document);
        }
        catch (JsonException)
        {
            return false;
        }
    }

    private static void WriteField(Utf8JsonWriter json, ReadOnlySpan<byte> field, bool isNull)
    {
        if (isNull)
            json.WriteNullValue();
        else if (Utf8.IsValid(field))
            json.WriteStringValue(field);
        else
        {
            json.WriteStartObject();
            json.WriteBase64String("b64", field);
            json.WriteEndObject();
        }
    }
}
