using System.Buffers;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Unicode;

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
/// </remarks>
internal sealed class JsonLinesWriter : DumpWriter
{
    /// <summary>The most bytes of a value in one line.</summary>
    public const int PartBytes = 1 << 20;

    private static readonly JsonWriterOptions Options = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    private readonly Stream _stream;
    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    private readonly ArrayBufferWriter<byte> _line = new();
    private readonly Utf8JsonWriter _json;
    private long _trees;
    private long _entries;

    public JsonLinesWriter(Stream stream)
    {
        _stream = new BufferedStream(stream, 1 << 20);
        _json = new Utf8JsonWriter(_line, Options);
        Begin();
        _json.WriteString("dump", "voron");
        _json.WriteNumber("version", 1);
        End();
    }

    /// <summary>Returns the line of an entry, as in a dump, but in one line whatever its length.</summary>
    public static string Line(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        var line = new ArrayBufferWriter<byte>();
        using var json = new Utf8JsonWriter(line, Options);
        json.WriteStartObject();
        WriteBytes(json, "k", "k64", key);
        WriteBytes(json, "v", "v64", value);
        json.WriteEndObject();
        json.Flush();
        return Encoding.UTF8.GetString(line.WrittenSpan);
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

    public override void BeginTree(string name)
    {
        _trees++;
        Begin();
        _json.WriteString("tree", name);
        End();
    }

    public override void Write(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        _entries++;
        Begin();
        WriteBytes(_json, "k", "k64", key);
        if (value.Length <= PartBytes)
        {
            WriteBytes(_json, "v", "v64", value);
            End();
            return;
        }

        _json.WriteNumber("parts", (value.Length + PartBytes - 1) / PartBytes);
        _json.WriteNumber("length", value.Length);
        End();
        for (var at = 0; at < value.Length; at += PartBytes)
        {
            Begin();
            _json.WriteBase64String("p64", value[at..Math.Min(value.Length, at + PartBytes)]);
            End();
        }
    }

    public override void EndTree()
    {
    }

    public override void Finish()
    {
        var sum = Convert.ToHexString(_hash.GetHashAndReset());
        Begin();
        _json.WriteBoolean("end", true);
        _json.WriteNumber("trees", _trees);
        _json.WriteNumber("entries", _entries);
        _json.WriteString("sha256", sum);
        End();
        _stream.Flush();
    }

    public override void Dispose()
    {
        _json.Dispose();
        _hash.Dispose();
        _stream.Dispose();
    }

    private static void WriteBytes(Utf8JsonWriter json, string text, string base64, ReadOnlySpan<byte> bytes)
    {
        if (Utf8.IsValid(bytes))
            json.WriteString(text, bytes);
        else
            json.WriteBase64String(base64, bytes);
    }

    private void Begin()
    {
        _line.ResetWrittenCount();
        _json.Reset();
        _json.WriteStartObject();
    }

    private void End()
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
        using var json = new Utf8JsonWriter(line, Options);
        json.WriteStartObject();
        WriteBytes(json, "k", "k64", key);
        json.WriteNumber(name, count);
        json.WriteEndObject();
        json.Flush();
        return Encoding.UTF8.GetString(line.WrittenSpan);
    }
}
