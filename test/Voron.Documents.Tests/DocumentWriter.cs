using System.Globalization;
using System.Text;

namespace Voron.Documents.Tests;

/// <summary>Random documents and queries over a few properties, whose values are of all types and often equal.</summary>
/// <param name="random">Decides everything.</param>
internal sealed class DocumentWriter(Random random)
{
    private static readonly string[] Sections = ["games", "libs", "doc", "shells", "é"];
    private static readonly string[] Paths = ["section", "v", "deps[*].name", "size", "none"];
    private static readonly string[] Signs = ["=", "!=", "<", "<=", ">", ">="];

    public string Id() => $"d{random.Next(300)}";

    public byte[] Document(string id)
    {
        var json = new StringBuilder($$"""{"id":"{{id}}" """);
        if (random.Next(5) > 0)
            json.Append(CultureInfo.InvariantCulture, $",\"section\":\"{Sections[random.Next(Sections.Length)]}\"");
        if (random.Next(5) > 0)
            json.Append(",\"v\":").Append(Value());
        if (random.Next(3) > 0)
            json.Append(",\"deps\":[").AppendJoin(',', Enumerable.Range(0, random.Next(4)).Select(_ => $$"""{"name":{{Value()}}}""")).Append(']');
        json.Append(",\"size\":").Append(random.Next(100)).Append('}');
        return Encoding.UTF8.GetBytes(json.ToString());
    }

    public string Condition(int depth)
    {
        if (depth == 0 || random.Next(3) == 0)
            return Term();
        return random.Next(4) switch
        {
            0 => $"not ({Condition(depth - 1)})",
            1 => $"({Condition(depth - 1)} or {Condition(depth - 1)})",
            _ => $"({Condition(depth - 1)}) and {Condition(depth - 1)}",
        };
    }

    // Texts of 198 to 203 bytes are around the length that an index has.
    private string Value() => random.Next(8) switch
    {
        0 => "null",
        1 => "true",
        2 => "false",
        3 => random.Next(-5, 5).ToString(CultureInfo.InvariantCulture),
        4 => (random.NextDouble() * 10).ToString("R", CultureInfo.InvariantCulture),
        5 => $"\"{new string((char)('a' + random.Next(3)), random.Next(4))}\"",
        6 => $"\"{new string('x', 198 + random.Next(6))}\"",
        _ => "\"a\\u0062\"",
    };

    private string Term()
    {
        var path = Paths[random.Next(Paths.Length)];
        if (random.Next(6) == 0)
            return $"{path} starts with \"{(random.Next(2) == 0 ? "a" : "xxx")}\"";
        var value = path == "section" ? $"\"{Sections[random.Next(Sections.Length)]}\"" : Value().Replace("\\u0062", "b", StringComparison.Ordinal);
        return $"{path} {Signs[random.Next(Signs.Length)]} {value}";
    }
}
