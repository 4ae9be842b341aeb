using System.Buffers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

namespace Voron.Tool.Dumps;

/// <summary>Reads a dump of JSON lines, and checks its counts and its sum.</summary>
internal static class JsonLinesReader
{
    public static IEnumerable<DumpEntry> Read(Stream stream, CancellationToken stop)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        var lines = new LineReader(stream);
        string? tree = null;
        var (trees, entries) = (0L, 0L);
        while (lines.TryRead(out var line))
        {
            stop.ThrowIfCancellationRequested();
            var parsed = Parse(line.Span, lines.Number);
            if (parsed.End)
            {
                CheckEnd(parsed, trees, entries, Convert.ToHexString(hash.GetHashAndReset()), lines);
                yield break;
            }

            AddLine(hash, line.Span);
            if (lines.Number == 1)
            {
                if (parsed is not { Dump: "voron", Version: 1 })
                    throw Bad(lines.Number, "this is no dump of Voron of version 1");
            }
            else if (parsed.Tree != null)
            {
                tree = parsed.Tree;
                trees++;
                yield return new DumpEntry(tree, null, []);
            }
            else
            {
                entries++;
                yield return new DumpEntry(tree, BytesOf(parsed.K, parsed.K64, "k", lines.Number), parsed.Parts > 0
                    ? ReadParts(parsed, lines, hash)
                    : BytesOf(parsed.V, parsed.V64, "v", lines.Number));
            }
        }

        throw Bad(lines.Number, "the dump ends here, without its last line: it was cut short");
    }

    private static byte[] ReadParts(Line first, LineReader lines, IncrementalHash hash)
    {
        if (first.Length <= 0 || first.Length > Array.MaxLength
            || first.Parts != (first.Length + JsonLinesWriter.PartBytes - 1) / JsonLinesWriter.PartBytes)
            throw Bad(lines.Number, $"a value of {first.Length} bytes does not have {first.Parts} parts");
        // Grows as the parts come, since the length may be wrong.
        var value = new ArrayBufferWriter<byte>((int)Math.Min(first.Length, 4 * JsonLinesWriter.PartBytes));
        for (var part = 0; part < first.Parts; part++)
        {
            if (!lines.TryRead(out var line))
                throw Bad(lines.Number, "the dump ends within a value");
            AddLine(hash, line.Span);
            var bytes = Parse(line.Span, lines.Number).P64 ?? throw Bad(lines.Number, "a part of a value must be here");
            if (bytes.Length > first.Length - value.WrittenCount)
                throw Bad(lines.Number, "the parts of a value are longer than it");
            value.Write(bytes);
        }

        return value.WrittenCount == first.Length
            ? value.WrittenSpan.ToArray()
            : throw Bad(lines.Number, $"the parts of a value have {value.WrittenCount} bytes instead of {first.Length}");
    }

    private static void AddLine(IncrementalHash hash, ReadOnlySpan<byte> line)
    {
        hash.AppendData(line);
        hash.AppendData("\n"u8);
    }

    private static void CheckEnd(Line end, long trees, long entries, string sum, LineReader lines)
    {
        if (end.Trees != trees || end.Entries != entries)
            throw Bad(lines.Number, $"the dump says that it has {end.Trees} trees and {end.Entries} entries, but it has {trees} and {entries}");
        if (!string.Equals(end.Sha256, sum, StringComparison.OrdinalIgnoreCase))
            throw Bad(lines.Number, $"the sum of the dump should be {end.Sha256}, but is {sum}: the dump was changed");
        if (lines.TryRead(out _))
            throw Bad(lines.Number, "there is something behind the end of the dump");
    }

    private static Line Parse(ReadOnlySpan<byte> line, long number)
    {
        try
        {
            return JsonSerializer.Deserialize<Line>(line, JsonSerializerOptions.Web) ?? throw Bad(number, "this is no object");
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException)
        {
            throw Bad(number, e.Message);
        }
    }

    private static byte[] BytesOf(string? text, byte[]? bytes, string name, long number) => (text, bytes) switch
    {
        (not null, null) => Encoding.UTF8.GetBytes(text),
        (null, not null) => bytes,
        _ => throw Bad(number, $"an entry must have either \"{name}\" or \"{name}64\""),
    };

    private static ToolException Bad(long line, string fault) => new(ExitCode.Damaged, $"Line {line} of the dump: {fault}. Nothing was loaded.");

    private sealed record Line
    {
        public string? Dump { get; init; }

        public int Version { get; init; }

        public string? Tree { get; init; }

        public string? K { get; init; }

        public byte[]? K64 { get; init; }

        public string? V { get; init; }

        public byte[]? V64 { get; init; }

        public byte[]? P64 { get; init; }

        public long Parts { get; init; }

        public long Length { get; init; }

        public bool End { get; init; }

        public long Trees { get; init; }

        public long Entries { get; init; }

        public string? Sha256 { get; init; }
    }
}
