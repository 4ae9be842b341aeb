using System.Buffers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Voron.Format;
using Voron.Tables;
using Voron.Trees.Kinds;

namespace Voron.Tool.Dumps;

/// <summary>Reads a dump of JSON lines, and checks its counts and its sum.</summary>
internal static class JsonLinesReader
{
    public static IEnumerable<DumpEntry> Read(LineReader lines, CancellationToken stop)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        var section = new DumpSection(null, TreeKind.Plain);
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
                if (parsed is not { Dump: "voron", Version: 1 or 2 })
                    throw lines.Bad("this is no dump of Voron of version 1 or 2");
            }
            else if ((parsed.Tree ?? parsed.Table) != null)
            {
                section = SectionOf(parsed, lines);
                trees++;
                yield return new DumpEntry(section, lines.Number);
            }
            else
            {
                entries++;
                yield return ReadEntry(section, parsed, lines, hash);
            }
        }

        throw lines.Bad("the dump ends here, without its last line: it was cut short");
    }

    private static DumpSection SectionOf(Line line, LineReader lines)
    {
        if (line.Table != null)
        {
            if (line.Tree != null || line.Version <= 0 || line.NextRow < 0)
                throw lines.Bad("a table must have a version above 0 and the id of its next row");
            return new DumpSection(line.Table, null) { Version = line.Version, Keys = line.Keys, NextRow = line.NextRow };
        }

        var kind = line.Kind == null ? TreeKind.Plain : TreeKinds.Find(line.Kind) ?? throw lines.Bad($"trees of the kind '{line.Kind}' are not known");
        return new DumpSection(line.Tree, kind) { ValueBytes = line.ValueBytes };
    }

    private static DumpEntry ReadEntry(DumpSection section, Line line, LineReader lines, IncrementalHash hash) => section.Kind switch
    {
        TreeKind.Plain or TreeKind.ValueSets => ReadKeyAndValue(section, line, lines, hash),
        TreeKind.FixedSize => ReadFixedValue(section, line, lines),
        TreeKind.IdSets => ReadId(section, line, lines),
        null => ReadRow(section, line, lines),
    };

    private static DumpEntry ReadKeyAndValue(DumpSection section, Line line, LineReader lines, IncrementalHash hash)
    {
        var key = BytesOf(line.K, line.K64, "k", lines);
        var value = line.Parts > 0 ? ReadParts(line, lines, hash) : BytesOf(line.V, line.V64, "v", lines);
        return new DumpEntry(section, lines.Number) { Key = key, Value = value };
    }

    private static DumpEntry ReadFixedValue(DumpSection section, Line line, LineReader lines)
    {
        var number = line.N ?? throw lines.Bad("an entry of a fixed-size tree must have \"n\"");
        var value = BytesOf(line.V, line.V64, "v", lines);
        return value.Length == section.ValueBytes
            ? new DumpEntry(section, lines.Number) { Number = number, Value = value }
            : throw lines.Bad($"the value has {value.Length} bytes, and those of the tree have {section.ValueBytes}");
    }

    private static DumpEntry ReadId(DumpSection section, Line line, LineReader lines)
    {
        if (line.Id is not >= 0)
            throw lines.Bad("an entry of a tree of id sets must have an \"id\" that is not negative");
        var key = BytesOf(line.K, line.K64, "k", lines);
        return new DumpEntry(section, lines.Number) { Key = key, Number = line.Id.Value, Value = [line.Payload] };
    }

    private static DumpEntry ReadRow(DumpSection section, Line line, LineReader lines)
    {
        if (line.Id is not { } id || (line.Key == null) != (section.Keys == null))
            throw lines.Bad("a row must have an \"id\", and a \"key\" if its table has keys");
        if (line.Row == null && line.Fields == null)
            throw lines.Bad("a row must have either \"row\" or \"fields\"");
        byte[]?[] fields = line.Row is { } document
            ? [Encoding.UTF8.GetBytes(document.GetRawText())]
            : [.. line.Fields!.Select(field => FieldOf(field, lines))];
        if (fields.Length > RowLayout.MaxFields || line.Definition is <= 0 or > RowLayout.MaxDefinitionVersion)
            throw lines.Bad($"a row must have at most {RowLayout.MaxFields} fields, and a definition from 1 to {RowLayout.MaxDefinitionVersion}");
        var row = RowForm.ToBytes(line.RowVersion, line.Definition, line.Expires, line.Fixed64 ?? [], fields);
        if (id is < 0 or > RowIdBytes.Max || RowLayout.FindFault(row) is { })
            throw lines.Bad(RowLayout.FindFault(row) is { } fault ? $"the row is none: {fault}" : $"a row has an id from 0 to {RowIdBytes.Max}");
        return new DumpEntry(section, lines.Number) { Key = KeyOf(section, line, lines), Number = id, Value = row };
    }

    private static byte[]? KeyOf(DumpSection section, Line line, LineReader lines)
    {
        try
        {
            return section.Keys == null ? null : KeyForm.Parse(section.Keys, line.Key!);
        }
        catch (ToolException e)
        {
            throw lines.Bad(e.Message.TrimEnd('.'));
        }
    }

    private static byte[]? FieldOf(JsonElement field, LineReader lines) => field.ValueKind switch
    {
        JsonValueKind.Null => null,
        JsonValueKind.String => Encoding.UTF8.GetBytes(field.GetString()!),
        JsonValueKind.Object when field.TryGetProperty("b64", out var base64) && base64.TryGetBytesFromBase64(out var bytes) => bytes,
        _ => throw lines.Bad("a field must be a text, null, or {\"b64\": ...}"),
    };

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

        public string? Kind { get; init; }

        public int ValueBytes { get; init; }

        public long? N { get; init; }

        public long? Id { get; init; }

        public byte Payload { get; init; }

        public string? Table { get; init; }

        public string? Keys { get; init; }

        public long NextRow { get; init; }

        public string? Key { get; init; }

        public long RowVersion { get; init; }

        public int Definition { get; init; }

        public long? Expires { get; init; }

        public JsonElement? Row { get; init; }

        public byte[]? Fixed64 { get; init; }

        public IReadOnlyList<JsonElement>? Fields { get; init; }

        public bool End { get; init; }

        public long Trees { get; init; }

        public long Entries { get; init; }

        public string? Sha256 { get; init; }
    }
}
