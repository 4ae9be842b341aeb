using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;
using Voron.Tables;

namespace Voron.Tests.Tables;

/// <summary>Rows that are JSON documents.</summary>
[Quick]
public sealed class JsonRowCodecTests
{
    private static readonly Package Sample = new("voron", "1.0", 12_345, ["zlib", "lz4"]) { Note = "ü" };

    private static readonly IRowCodec<Package> Codec = RowCodec.Json(PackageContext.Default.Package);

    [Fact]
    public void A_row_is_read_as_it_was_written()
    {
        var row = Write(Codec, Sample);
        RowLayout.FieldCount(row).Should().Be(1);
        RowKit.Read(row, (ref reader) => Encoding.UTF8.GetString(reader.ReadBytes()))
            .Should().Be("""{"Name":"voron","Version":"1.0","Size":12345,"Depends":["zlib","lz4"],"Note":"\u00FC"}""");
        RowKit.Read(row, Codec.Read).Should().BeEquivalentTo(Sample);
    }

    [Fact]
    public void Options_of_the_type_hold_but_for_indentation()
    {
        var options = new JsonSerializerOptions
        {
            Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
            PropertyNamingPolicy = JsonNamingPolicy.CamelCase,
            WriteIndented = true,
        };
        var codec = RowCodec.Json(new PackageContext(options).Package);
        for (var i = 0; i < 3; i++)
        {
            RowKit.Read(Write(codec, Sample), (ref reader) => Encoding.UTF8.GetString(reader.ReadBytes()))
                .Should().Be("""{"name":"voron","version":"1.0","size":12345,"depends":["zlib","lz4"],"note":"ü"}""");
            RowKit.Read(Write(codec, Sample), codec.Read).Should().BeEquivalentTo(Sample);
            RowKit.Read(Write(Codec, Sample), Codec.Read).Should().BeEquivalentTo(Sample);
        }
    }

    [Fact]
    public void Null_is_no_row()
    {
        Assert.Throws<ArgumentNullException>(static () => RowCodec.Json<Package>(null!)).ParamName.Should().Be("type");
        Assert.Throws<ArgumentNullException>(static () => Write(Codec, null!)).ParamName.Should().Be("row");
        RowKit.Refuses(RowKit.Write(static (ref writer) => writer.WriteString("null")), Codec.Read).Should().StartWith("its JSON document is null");
    }

    [Fact]
    public void A_document_that_cannot_be_read_names_the_row()
    {
        foreach (var text in new[] { "", "{", "[]", """{"Name":5}""", "{} {}" })
        {
            RowKit.Refuses(RowKit.Write((ref writer) => writer.WriteString(text)), Codec.Read)
                .Should().StartWith("its JSON document is not one of the type Package: ");
        }

        RowKit.Refuses(RowKit.Write(static (ref writer) => writer.WriteNull()), Codec.Read).Should().StartWith("its variable field 0 is null");
        RowKit.Refuses(RowKit.Write(static (ref writer) => { }), Codec.Read).Should().StartWith("it has 0 variable fields");
    }

    [Fact]
    public void A_converter_that_throws_does_not_spoil_later_rows()
    {
        var codec = RowCodec.Json(PackageContext.Default.Fragile);
        for (var i = 0; i < 3; i++)
        {
            Assert.Throws<NotSupportedException>(() => Write(codec, new Fragile { First = new string('x', 5_000), Last = new() { Fails = true } }));
            RowKit.Read(Write(Codec, Sample), Codec.Read).Should().BeEquivalentTo(Sample);
        }

        RowKit.Read(Write(codec, new Fragile { First = "a", Last = new() }), codec.Read).First.Should().Be("a");
    }

    // A converter may itself write a row.
    [Fact]
    public void A_row_can_be_written_while_another_one_is()
    {
        var codec = RowCodec.Json(PackageContext.Default.Fragile);
        var inner = Array.Empty<byte>();
        var row = Write(codec, new Fragile { First = "a", Last = new() { Write = () => inner = Write(Codec, Sample) } });
        RowKit.Read(row, codec.Read).First.Should().Be("a");
        RowKit.Read(inner, Codec.Read).Should().BeEquivalentTo(Sample);
    }

    [Fact]
    public void Writing_allocates_nothing()
    {
        using var buffer = new RowBuffer();
        Write();
        Write();
        ManagedAllocation.Least(() =>
        {
            for (var i = 0; i < 100; i++)
                Write();
        }).Should().Be(0);

        void Write()
        {
            buffer.Begin(1);
            var writer = new RowWriter(buffer);
            Codec.Write(Sample, ref writer);
            Assert.True(buffer.Finish(1)[2] == 0);
        }
    }

    private static byte[] Write<T>(IRowCodec<T> codec, T row) => RowKit.Write((ref writer) => codec.Write(row, ref writer));

    internal sealed record Package(string Name, string Version, long Size, string[] Depends)
    {
        public string? Note { get; init; }
    }

    internal sealed class Fragile
    {
        public string First { get; set; } = "";

        public Part? Last { get; set; }
    }

    [JsonConverter(typeof(PartConverter))]
    internal sealed class Part
    {
        public bool Fails { get; init; }

        public Action? Write { get; init; }
    }

    internal sealed class PartConverter : JsonConverter<Part>
    {
        public override Part Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options)
        {
            reader.Skip();
            return new Part();
        }

        public override void Write(Utf8JsonWriter writer, Part value, JsonSerializerOptions options)
        {
            writer.WriteStartObject();
            if (value.Fails)
                throw new NotSupportedException("The converter fails.");
            value.Write?.Invoke();
            writer.WriteEndObject();
        }
    }
}

[JsonSerializable(typeof(JsonRowCodecTests.Package))]
[JsonSerializable(typeof(JsonRowCodecTests.Fragile))]
internal sealed partial class PackageContext : JsonSerializerContext;
