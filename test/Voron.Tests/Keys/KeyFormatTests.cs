using System.Text.RegularExpressions;

namespace Voron.Tests.Keys;

/// <summary>The bytes of fields never change, and <c>docs/key-encoding.md</c> shows them.</summary>
public sealed partial class KeyFormatTests
{
    private const string Document = "docs/key-encoding.md";

    private delegate void Fill(ref KeyWriter key);

    private static readonly (string Type, string Value, string Bytes, Fill Add)[] Examples =
    [
        ("null marker", "null", "00", (ref key) => key.AddNull()),
        ("null marker", "not null", "01", (ref key) => key.AddNotNull()),
        ("bool", "false", "00", (ref key) => key.Add(false)),
        ("bool", "true", "01", (ref key) => key.Add(true)),
        ("sbyte", "-1", "7F", (ref key) => key.Add((sbyte)-1)),
        ("byte", "200", "C8", (ref key) => key.Add((byte)200)),
        ("short", "-2", "7F FE", (ref key) => key.Add((short)-2)),
        ("ushort", "258", "01 02", (ref key) => key.Add((ushort)258)),
        ("int", "0", "80 00 00 00", (ref key) => key.Add(0)),
        ("int", "1", "80 00 00 01", (ref key) => key.Add(1)),
        ("int", "-1", "7F FF FF FF", (ref key) => key.Add(-1)),
        ("int, descending", "1", "7F FF FF FE", (ref key) => key.AddDescending(1)),
        ("uint", "16909060", "01 02 03 04", (ref key) => key.Add(16909060U)),
        ("long", "1000", "80 00 00 00 00 00 03 E8", (ref key) => key.Add(1000L)),
        ("ulong", "1", "00 00 00 00 00 00 00 01", (ref key) => key.Add(1UL)),
        ("Int128", "-1", "7F FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF", (ref key) => key.Add((Int128)(-1))),
        ("UInt128", "1", "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01", (ref key) => key.Add((UInt128)1)),
        ("Half", "1.5", "BE 00", (ref key) => key.Add((Half)1.5)),
        ("float", "-1.5", "40 3F FF FF", (ref key) => key.Add(-1.5f)),
        ("double", "0", "80 00 00 00 00 00 00 00", (ref key) => key.Add(0d)),
        ("double", "-0", "80 00 00 00 00 00 00 00", (ref key) => key.Add(-0d)),
        ("double", "1.5", "BF F8 00 00 00 00 00 00", (ref key) => key.Add(1.5)),
        ("double", "-1.5", "40 07 FF FF FF FF FF FF", (ref key) => key.Add(-1.5)),
        ("double", "infinity", "FF F0 00 00 00 00 00 00", (ref key) => key.Add(double.PositiveInfinity)),
        ("double", "-infinity", "00 0F FF FF FF FF FF FF", (ref key) => key.Add(double.NegativeInfinity)),
        ("double", "NaN", "00 07 FF FF FF FF FF FF", (ref key) => key.Add(double.NaN)),
        ("decimal", "0", "80", (ref key) => key.Add(0m)),
        ("decimal", "1", "9D 14", (ref key) => key.Add(1m)),
        ("decimal", "1.00", "9D 14", (ref key) => key.Add(1.00m)),
        ("decimal", "-1", "62 EB", (ref key) => key.Add(-1m)),
        ("decimal", "12.34", "9E 19 44", (ref key) => key.Add(12.34m)),
        ("decimal", "-12.34", "61 E6 BB", (ref key) => key.Add(-12.34m)),
        ("decimal", "100", "9F 14", (ref key) => key.Add(100m)),
        ("decimal", "0.05", "9B 64", (ref key) => key.Add(0.05m)),
        ("decimal", "79228162514264337593543950335", "B9 9F 2D A3 7D 67 55 81 43 97 BB 6D 4F 65 43 64", (ref key) => key.Add(decimal.MaxValue)),
        ("Guid", "00112233-4455-6677-8899-aabbccddeeff", "00 11 22 33 44 55 66 77 88 99 AA BB CC DD EE FF",
            (ref key) => key.Add(new Guid("00112233-4455-6677-8899-aabbccddeeff"))),
        ("DateTime", "1970-01-01 00:00:00", "08 9F 7F F5 F7 B5 80 00", (ref key) => key.Add(DateTime.UnixEpoch)),
        ("DateTimeOffset", "1970-01-01 01:00:00 +01:00", "08 9F 7F F5 F7 B5 80 00 80 3C",
            (ref key) => key.Add(new DateTimeOffset(1970, 1, 1, 1, 0, 0, TimeSpan.FromHours(1)))),
        ("DateOnly", "1970-01-01", "00 0A F9 3A", (ref key) => key.Add(new DateOnly(1970, 1, 1))),
        ("TimeOnly", "00:00:01", "00 00 00 00 00 98 96 80", (ref key) => key.Add(new TimeOnly(0, 0, 1))),
        ("TimeSpan", "-00:00:01", "7F FF FF FF FF 67 69 80", (ref key) => key.Add(TimeSpan.FromSeconds(-1))),
        ("string", "empty", "00", (ref key) => key.Add("")),
        ("string", "Zoë", "5A 6F C3 AB 00", (ref key) => key.Add("Zoë")),
        ("string, descending", "Zoë", "A5 90 3C 54 FF", (ref key) => key.AddDescending("Zoë")),
        ("string", "a, U+0000, b", "61 01 01 62 00", (ref key) => key.Add("a\0b")),
        ("bytes", "00 01 02", "01 01 01 02 02 00", (ref key) => key.Add([0, 1, 2])),
        ("prefix of a string", "Zo", "5A 6F", (ref key) => key.AddPrefix("Zo")),
        ("string, int descending, null marker", "(b, 2, null)", "62 00 7F FF FF FD 00", (ref key) => key.Add("b").AddDescending(2).AddNull()),
    ];

    [Fact]
    public void Fields_have_the_bytes_that_they_always_had()
    {
        var buffer = new byte[64];
        foreach (var (type, value, bytes, add) in Examples)
        {
            var key = new KeyWriter(buffer);
            add(ref key);
            Hex(key.Written).Should().Be(bytes, "{0} {1} has these bytes in stored keys", type, value);
        }
    }

    [Fact]
    public void Every_type_of_field_has_an_example()
    {
        var overloads = typeof(KeyWriter).GetMethods().Where(method => method.Name == nameof(KeyWriter.Add)).ToList();
        overloads.Should().HaveCountGreaterThan(20);
        Examples.Select(example => example.Type).Distinct().Count(type => !type.Contains(',') && type is not ("null marker" or "prefix of a string"))
            .Should().Be(overloads.Count - 1, "a text can be added as a string or as a span");
    }

    [Fact]
    public void The_document_shows_these_bytes()
    {
        var shown = Row().Matches(File.ReadAllText(SourceTree.File(Document)))
            .Select(match => (match.Groups[1].Value, match.Groups[2].Value, match.Groups[3].Value));
        shown.Should().Equal(Examples.Select(example => (example.Type, example.Value, example.Bytes)));
    }

    private static string Hex(ReadOnlySpan<byte> bytes) => string.Join(' ', bytes.ToArray().Select(value => value.ToString("X2")));

    [GeneratedRegex(@"^\| ([^|]+) \| ([^|]+) \| `([0-9A-F ]+)` \|$", RegexOptions.Multiline)]
    private static partial Regex Row();
}
