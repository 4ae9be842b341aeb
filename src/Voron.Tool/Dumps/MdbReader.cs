using System.Buffers;
using System.Text;
using System.Text.Unicode;
using Voron.Format;

namespace Voron.Tool.Dumps;

/// <summary>Reads a dump in the format of <c>mdb_dump</c> and <c>db_dump</c>, with keys and values in hexadecimal or as printable text.</summary>
internal static class MdbReader
{
    public static IEnumerable<DumpEntry> Read(LineReader lines, CancellationToken stop)
    {
        var sections = 0;
        while (ReadHeader(lines) is { } header)
        {
            sections++;
            var section = new DumpSection(header.Database, TreeKind.Plain);
            yield return new DumpEntry(section, lines.Number);
            while (ReadData(lines, header.IsPrint) is { } key)
            {
                stop.ThrowIfCancellationRequested();
                var value = ReadData(lines, header.IsPrint) ?? throw lines.Bad("a key has no value");
                yield return new DumpEntry(section, lines.Number) { Key = key, Value = value };
            }
        }

        if (sections == 0)
            throw lines.Bad(lines.Number == 0 ? "there is none, the dump is empty" : "this is no dump: it does not begin with VERSION=3, and not with a brace");
    }

    // Returns null at the end of the dump.
    private static Header? ReadHeader(LineReader lines)
    {
        var (isPrint, hasVersion, hasLines) = (false, false, false);
        string? database = null;
        while (lines.TryRead(out var line))
        {
            hasLines = true;
            if (!Utf8.IsValid(line.Span))
                throw lines.Bad("the header must be UTF-8");
            var text = Encoding.UTF8.GetString(line.Span);
            if (text == "HEADER=END")
                return hasVersion ? new Header(database, isPrint) : throw lines.Bad("VERSION=3 is missing");
            var equals = text.IndexOf('=', StringComparison.Ordinal);
            if (equals < 0)
                throw lines.Bad("a line of the header must have a name and a value");
            var (name, value) = (text[..equals], text[(equals + 1)..]);
            switch (name)
            {
                case "VERSION":
                    hasVersion = value == "3" ? true : throw lines.Bad($"version {value} is not known");
                    break;
                case "format":
                    isPrint = value switch { "print" => true, "bytevalue" => false, _ => throw lines.Bad($"the format '{value}' is not known") };
                    break;
                case "type" when value != "btree":
                    throw lines.Bad($"databases of type '{value}' cannot be loaded");
                case "dupsort" or "duplicates" when value == "1":
                    throw lines.Bad("databases with several values for a key cannot be loaded");
                case "database":
                    database = value;
                    break;
            }
        }

        return hasLines ? throw lines.Bad("the dump ends within a header") : null;
    }

    // Returns null at the end of the section.
    private static byte[]? ReadData(LineReader lines, bool isPrint)
    {
        if (!lines.TryRead(out var line))
            throw lines.Bad("the dump ends here, without DATA=END: it was cut short");
        var text = line.Span;
        if (text.SequenceEqual("DATA=END"u8))
            return null;
        if (text.Length == 0 || text[0] != ' ')
            throw lines.Bad("a line of data must begin with a space");
        return isPrint ? FromPrint(text[1..], lines) : FromHex(text[1..], lines);
    }

    private static byte[] FromHex(ReadOnlySpan<byte> digits, LineReader lines)
    {
        var bytes = new byte[digits.Length / 2];
        return digits.Length % 2 == 0 && Convert.FromHexString(digits, bytes, out _, out _) == OperationStatus.Done
            ? bytes
            : throw lines.Bad("this is not a sequence of pairs of hexadecimal digits");
    }

    // A backslash stands for itself when doubled, and otherwise begins two hexadecimal digits. All else stands for itself, whatever its encoding.
    private static byte[] FromPrint(ReadOnlySpan<byte> text, LineReader lines)
    {
        var bytes = new byte[text.Length];
        var length = 0;
        while (!text.IsEmpty)
        {
            var one = text[0];
            var taken = 1;
            if (one == '\\')
            {
                if (text.Length > 1 && text[1] == '\\')
                    taken = 2;
                else if (text.Length > 2 && Convert.FromHexString(text.Slice(1, 2), bytes.AsSpan(length, 1), out _, out _) == OperationStatus.Done)
                    (one, taken) = (bytes[length], 3);
                else
                    throw lines.Bad("a backslash must be followed by two hexadecimal digits");
            }

            bytes[length++] = one;
            text = text[taken..];
        }

        return bytes[..length];
    }

    private sealed record Header(string? Database, bool IsPrint);
}
