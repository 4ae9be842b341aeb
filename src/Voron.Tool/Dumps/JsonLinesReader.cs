using System.Buffers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

namespace Voron.Tool.Dumps;

/// <summary>Reads a dump of JSON lines, and checks its counts and its sum.</summary>
internal static class JsonLinesReader
{
    public static IEnumerable<DumpEntry> Read(LineReader lines, CancellationToken stop)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        string? tree = null;
        var (trees, entries) = (0L, 0L);
        while (lines.TryRead(out var line))
        {
            stop.ThrowIfCancellationRequested();
            var parsed = Parse(line.Span, lines);
            if (parsed.End)
            {
                CheckEnd(parsed, trees, entries, Convert.ToHexString(hash.GetHashAndReset()), lines);
                yield break;
            }

            AddLine(hash, line.Span);
            if (lines.Number == 1)
            {
                if (parsed is not { Dump: "voron", Version: 1 })
                    throw lines.Bad("this is no dump of Voron of version 1");
            }
            else if (parsed.Tree != null)
            {
                tree = parsed.Tree;
                trees++;
                yield return new DumpEntry(tree, null, [], lines.Number);
            }
            else
            {
                entries++;
                yield return new DumpEntry(tree, BytesOf(parsed.K, parsed.K64, "k", lines), parsed.Parts > 0
                    ? ReadParts(parsed, lines, hash)
                    : BytesOf(parsed.V, parsed.V64, "v", lines), lines.Number);
            }
        }

        throw lines.Bad("the dump ends here, without its last line: it was cut short");
    }

    private static byte[] ReadParts(Line first, LineReader lines, IncrementalHash hash)
    {
        if (first.Length <= 0 || first.Length > Array.MaxLength
            || first.Parts != (first.Length + JsonLinesWriter.PartBytes - 1) / JsonLinesWriter.PartBytes)
            throw lines.Bad($"a value of {first.Length} bytes does not have {first.Parts} parts");
        // Grows as the parts come, since the length may be wrong.
        var value = new ArrayBufferWriter<byte>((int)Math.Min(first.Length, 4 * JsonLinesWriter.PartBytes));
        for (var part = 0; part < first.Parts; part++)
        {
            if (!lines.TryRead(out var line))
                throw lines.Bad("the dump ends within a value");
            AddLine(hash, line.Span);
            var bytes = Parse(line.Span, lines).P64 ?? throw lines.Bad("a part of a value must be here");
            if (bytes.Length > first.Length - value.WrittenCount)
                throw lines.Bad("the parts of a value are longer than it");
            value.Write(bytes);
        }

        return value.WrittenCount == first.Length
            ? value.WrittenSpan.ToArray()
            : throw lines.Bad($"the parts of a value have {value.WrittenCount} bytes instead of {first.Length}");
    }

    private static void AddLine(IncrementalHash hash, ReadOnlySpan<byte> line)
    {
        hash.AppendData(line);
        hash.AppendData("\n"u8);
    }

    private static void CheckEnd(Line end, long trees, long entries, string sum, LineReader lines)
    {
        if (end.Trees != trees || end.Entries != entries)
            throw lines.Bad($"the dump says that it has {end.Trees} trees and {end.Entries} entries, but it has {trees} and {entries}");
        if (!string.Equals(end.Sha256, sum, StringComparison.OrdinalIgnoreCase))
            throw lines.Bad($"the sum of the dump should be {end.Sha256}, but is {sum}: the dump was changed");
        if (lines.TryRead(out _))
            throw lines.Bad("there is something behind the end of the dump");
    }

    private static Line Parse(ReadOnlySpan<byte> line, LineReader lines)
    {
        try
        {
            return JsonSerializer.Deserialize<Line>(line, JsonSerializerOptions.Web) ?? throw lines.Bad("this is no JSON object");
        }
        catch (JsonException e)
        {
            // The message of the exception counts lines of its own, and names types of .NET.
            var fault = e.Path is { Length: > 2 } path ? $"the value of \"{path[2..]}\" is wrong" : "this is no JSON object";
            throw lines.Bad($"{fault}, at byte {(e.BytePositionInLine ?? 0) + 1}");
        }
        catch (InvalidOperationException e)
        {
            throw lines.Bad(e.Message.TrimEnd('.'));
        }
    }

    private static byte[] BytesOf(string? text, byte[]? bytes, string name, LineReader lines) => (text, bytes) switch
    {
        (not null, null) => Encoding.UTF8.GetBytes(text),
        (null, not null) => bytes,
        _ => throw lines.Bad($"an entry must have either \"{name}\" or \"{name}64\""),
    };

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
