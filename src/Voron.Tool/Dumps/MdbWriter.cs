using System.Text;
using Voron.Format;

namespace Voron.Tool.Dumps;

/// <summary>
/// Writes a dump in the format of <c>mdb_dump</c> and <c>db_dump</c>: a section for each tree, keys and values in hexadecimal.
/// </summary>
/// <remarks>The format is described in the manual of Berkeley DB (db_dump, "VERSION=3"). It has no sum, and no name but that of the
/// database.</remarks>
internal sealed class MdbWriter(Stream stream) : DumpWriter
{
    /// <summary>The longest value, in bytes: a line of this format has two digits for each byte, and is read as a whole.</summary>
    public static readonly int LongestValueBytes = (LineReader.MaxLineBytes - 2) / 2;

    // So that a value of any length is written through a buffer of this one.
    private const int BytesAtOnce = 32 << 10;

    private readonly char[] _digits = new char[2 * BytesAtOnce];
    private readonly StreamWriter _text = new(stream, new UTF8Encoding(encoderShouldEmitUTF8Identifier: false), 1 << 20) { NewLine = "\n" };

    public override void Begin(DumpSection section)
    {
        var name = section.Name ?? "";
        if (section.Kind != TreeKind.Plain)
        {
            throw new ToolException(
                ExitCode.Usage, $"'{name}' is {section}, and this format has ordinary trees alone. Use the format jsonlines.");
        }

        if (name.AsSpan().ContainsAny('\n', '\r'))
        {
            throw new ToolException(
                ExitCode.Usage, $"The name of the tree '{name.ReplaceLineEndings(" ")}' has a line break, which this format cannot have.");
        }

        _text.WriteLine("VERSION=3");
        _text.WriteLine("format=bytevalue");
        _text.WriteLine($"database={name}");
        _text.WriteLine("type=btree");
        _text.WriteLine("HEADER=END");
    }

    public override void Write(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (value.Length > LongestValueBytes)
        {
            throw new ToolException(
                ExitCode.Usage,
                $"The value of the key {KeyText.Format(key)} has {value.Length} bytes, and a value of this format has at most {LongestValueBytes}. Use the format jsonlines.");
        }

        WriteBytes(key);
        WriteBytes(value);
    }

    public override void WriteNumber(long key, ReadOnlySpan<byte> value) => throw new NotSupportedException();

    public override void WriteId(ReadOnlySpan<byte> key, long id, byte payload) => throw new NotSupportedException();

    public override void WriteRow(long rowId, string? key, ReadOnlySpan<byte> row) => throw new NotSupportedException();

    public override void End() => _text.WriteLine("DATA=END");

    public override void Finish() => _text.Flush();

    public override void Dispose() => _text.Dispose();

    private void WriteBytes(ReadOnlySpan<byte> bytes)
    {
        _text.Write(' ');
        while (!bytes.IsEmpty)
        {
            var part = bytes[..Math.Min(bytes.Length, BytesAtOnce)];
            Convert.TryToHexStringLower(part, _digits, out var written);
            _text.Write(_digits, 0, written);
            bytes = bytes[part.Length..];
        }

        _text.WriteLine();
    }
}
