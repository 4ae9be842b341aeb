using System.Buffers;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Text.Unicode;
using Voron.Format;
using Voron.Trees.Kinds;

namespace Voron.Tool.Dumps;

/// <summary>Writes a dump as lines of JSON.</summary>
/// <remarks>
/// <code>
///   {"dump":"voron","version":1}
///   {"tree":"users"}
///   {"k":"ada","v":"..."}            "k64" and "v64" instead, in base64, for bytes that are no text
///   {"k":"photo","parts":3,"length":2500000}, then three lines {"p64":"..."}, for a value above 1 MiB
///   {"end":true,"trees":1,"entries":2,"sha256":"..."}     of all bytes before this line
/// </code>
/// Version 2 has other kinds of trees, and tables, as well:
/// <code>
///   {"tree":"prices","kind":"fixed-size","valueBytes":8}, then {"n":-5,"v64":"..."}
///   {"tree":"words","kind":"id sets"}, then {"k":"car","id":17,"payload":2} for each id
///   {"tree":"tags","kind":"value sets"}, then {"k":"car","v":"red"} for each value
///   {"table":"users","version":1,"keys":"utf8","nextRow":18}, then {"id":17,"key":"ada", and what RowForm writes} for each row
/// </code>
/// </remarks>
internal sealed class JsonLinesWriter : DumpWriter
{
    /// <summary>The most bytes of a value in one line.</summary>
    public const int PartBytes = 1 << 20;

    private readonly Stream _stream;
    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    private readonly ArrayBufferWriter<byte> _line = new();
    private readonly Utf8JsonWriter _json;
    private long _trees;
    private long _entries;

    /// <param name="stream">Receives the lines.</param>
    /// <param name="version">1 for a dump of ordinary trees, which earlier versions of the tool load; 2 for one of anything.</param>
    public JsonLinesWriter(Stream stream, int version = 1)
    {
        _stream = new BufferedStream(stream, 1 << 20);
        _json = new Utf8JsonWriter(_line, RowForm.Json);
        BeginLine();
        _json.WriteString("dump", "voron");
        _json.WriteNumber("version", version);
        EndLine();
    }

    /// <summary>Returns the line of an entry, as in a dump, but in one line whatever its length.</summary>
    public static string Line(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        var line = new ArrayBufferWriter<byte>();
        using var json = new Utf8JsonWriter(line, RowForm.Json);
        json.WriteStartObject();
        WriteBytes(json, "k", "k64", key);
        WriteBytes(json, "v", "v64", value);
        return Finish(json, line);
    }

    /// <summary>Returns the line of an entry of a fixed-size tree.</summary>
    public static string LineOfNumber(long key, ReadOnlySpan<byte> value)
    {
        var line = new ArrayBufferWriter<byte>();
        using var json = new Utf8JsonWriter(line, RowForm.Json);
        json.WriteStartObject();
        json.WriteNumber("n", key);
        json.WriteBase64String("v64", value);
        return Finish(json, line);
    }

    /// <summary>Returns the line of a row.</summary>
    /// <inheritdoc cref="DumpWriter.WriteRow"/>
    public static string LineOfRow(long rowId, string? key, ReadOnlySpan<byte> row)
    {
        var line = new ArrayBufferWriter<byte>();
        using var json = new Utf8JsonWriter(line, RowForm.Json);
        json.WriteStartObject();
        WriteRow(json, rowId, key, row);
        return Finish(json, line);
    }

    /// <summary>Returns the line of a key that has a set of ids.</summary>
    /// <param name="key">The key.</param>
    /// <param name="ids">The number of its ids.</param>
    public static string LineOfSet(ReadOnlySpan<byte> key, long ids) => LineOfCount(key, "ids", ids);

    /// <summary>Returns the line of a key that has a set of values.</summary>
    /// <param name="key">The key.</param>
    /// <param name="values">The number of its values.</param>
    public static string LineOfValueSet(ReadOnlySpan<byte> key, long values) => LineOfCount(key, "values", values);

    /// <summary>Returns the line of an id.</summary>
    public static string LineOfId(long id, byte payload) => string.Create(CultureInfo.InvariantCulture, $"{{\"id\":{id},\"payload\":{payload}}}");

    public override void Begin(DumpSection section)
    {
        _trees++;
        BeginLine();
        _json.WriteString(section.IsTable ? "table" : "tree", section.Name);
        if (section.Kind is not { } kind)
        {
            _json.WriteNumber("version", section.Version);
            _json.WriteString("keys", section.Keys);
            _json.WriteNumber("nextRow", section.NextRow);
        }
        else if (kind != TreeKind.Plain)
        {
            _json.WriteString("kind", TreeKinds.Of(kind).Name);
            if (kind == TreeKind.FixedSize)
                _json.WriteNumber("valueBytes", section.ValueBytes);
        }

        EndLine();
    }

    public override void Write(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        _entries++;
        BeginLine();
        WriteBytes(_json, "k", "k64", key);
        if (value.Length <= PartBytes)
        {
            WriteBytes(_json, "v", "v64", value);
            EndLine();
            return;
        }

        _json.WriteNumber("parts", (value.Length + PartBytes - 1) / PartBytes);
        _json.WriteNumber("length", value.Length);
        EndLine();
        for (var at = 0; at < value.Length; at += PartBytes)
        {
            BeginLine();
            _json.WriteBase64String("p64", value[at..Math.Min(value.Length, at + PartBytes)]);
            EndLine();
        }
    }

    public override void WriteNumber(long key, ReadOnlySpan<byte> value)
    {
        _entries++;
        BeginLine();
        _json.WriteNumber("n", key);
        _json.WriteBase64String("v64", value);
        EndLine();
    }

    public override void WriteId(ReadOnlySpan<byte> key, long id, byte payload)
    {
        _entries++;
        BeginLine();
        WriteBytes(_json, "k", "k64", key);
        _json.WriteNumber("id", id);
        _json.WriteNumber("payload", payload);
        EndLine();
    }

    public override void WriteRow(long rowId, string? key, ReadOnlySpan<byte> row)
    {
        _entries++;
        BeginLine();
        WriteRow(_json, rowId, key, row);
        EndLine();
    }

    public override void End()
    {
    }

    public override void Finish()
    {
        var sum = Convert.ToHexString(_hash.GetHashAndReset());
        BeginLine();
        _json.WriteBoolean("end", true);
        _json.WriteNumber("trees", _trees);
        _json.WriteNumber("entries", _entries);
        _json.WriteString("sha256", sum);
        EndLine();
        _stream.Flush();
    }

    public override void Dispose()
    {
        _json.Dispose();
        _hash.Dispose();
        _stream.Dispose();
    }

    private static void WriteRow(Utf8JsonWriter json, long rowId, string? key, ReadOnlySpan<byte> row)
    {
        json.WriteNumber("id", rowId);
        if (key != null)
            json.WriteString("key", key);
        RowForm.Write(json, row);
    }

    private static void WriteBytes(Utf8JsonWriter json, string text, string base64, ReadOnlySpan<byte> bytes)
    {
        if (Utf8.IsValid(bytes))
            json.WriteString(text, bytes);
        else
            json.WriteBase64String(base64, bytes);
    }

    private void BeginLine()
    {
        _line.ResetWrittenCount();
        _json.Reset();
        _json.WriteStartObject();
    }

    private void EndLine()
    {
        _json.WriteEndObject();
        _json.Flush();
        _line.Write("\n"u8);
        _hash.AppendData(_line.WrittenSpan);
        _stream.Write(_line.WrittenSpan);
    }

    private static string LineOfCount(ReadOnlySpan<byte> key, string name, long count)
    {
        var line = new ArrayBufferWriter<byte>();
        using var json = new Utf8JsonWriter(line, RowForm.Json);
        json.WriteStartObject();
        WriteBytes(json, "k", "k64", key);
        json.WriteNumber(name, count);
        return Finish(json, line);
    }

    private static string Finish(Utf8JsonWriter json, ArrayBufferWriter<byte> line)
    {
        json.WriteEndObject();
        json.Flush();
        return Encoding.UTF8.GetString(line.WrittenSpan);
    }
}
