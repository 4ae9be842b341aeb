using System.Text;
using Voron.Documents.Tool;

namespace Voron.Documents.Tests.Tool;

/// <summary>An import stores documents as they came, and says which line or row is none.</summary>
public sealed class ImporterTests : IAsyncLifetime
{
    private readonly CancellationToken _stop = TestContext.Current.CancellationToken;
    private readonly DocumentStore _store = DocumentStore.OpenInMemory();
    private readonly string _directory = Directory.CreateTempSubdirectory("voron-documents-").FullName;
    private Collection _collection = null!;

    public async ValueTask InitializeAsync() => _collection = await _store.CreateCollectionAsync("items", _stop);

    public ValueTask DisposeAsync()
    {
        _store.Dispose();
        Directory.Delete(_directory, recursive: true);
        return ValueTask.CompletedTask;
    }

    [Fact]
    public void Lines_are_stored_with_their_bytes()
    {
        Import(Lines("\u00EF\u00BB\u00BF{\"id\":\"a\" , \"t\":\"\\u00e9 \u00C3\u00A9\"}\r\n \t\r\n\n{\"id\":\"b\"}")).Imported.Should().Be(2);
        Find("a").Should().Be("{\"id\":\"a\" , \"t\":\"\\u00e9 \u00C3\u00A9\"}");
        Find("b").Should().Be("{\"id\":\"b\"}");
    }

    [Theory]
    [InlineData("{\"id\":\"b\u00FF\"}", "Line 2 of 'file' is no document. The line is not valid UTF-8.")]
    [InlineData("{\"id\":\"a much longer one\"}", "Line 2 of 'file' is no document. The line has more than 20 bytes.")]
    [InlineData("{\"id\":1", "Line 2 of 'file' is no document. The text is no JSON")]
    [InlineData("{}", "Line 2 of 'file' is no document. The document has no id")]
    public void A_line_that_is_no_document_is_refused(string line, string reason)
    {
        var text = $"{{\"id\":\"a\"}}\n{line}\n{{\"id\":\"c\"}}";
        FluentActions.Invoking(() => Import(Lines(text, maxBytes: 20))).Should().Throw<ImportException>()
            .WithMessage($"{reason}*1 document before it is stored. --skip-bad leaves such ones out, and counts them.");
        _collection.Count.Should().Be(1);
        var importer = Import(Lines(text, maxBytes: 20), skipsBad: true);
        (importer.Imported, importer.Refused).Should().Be((2, 1));
        importer.FirstRefusal.Should().StartWith(reason);
    }

    [Fact]
    public void A_fault_has_one_position()
    {
        FluentActions.Invoking(() => Import(Lines("{\"id\":\"a\"}\n{\"id\":\"b\", x}"))).Should().Throw<ImportException>()
            .WithMessage("Line 2 of 'file' is no document. The text is no JSON at byte 12: 'x' is an invalid*'\"'. 1 document before it*");
        FluentActions.Invoking(() => DocumentBatch.IdOf("{\n\"id\":\n x}"u8.ToArray())).Should().Throw<DocumentFormatException>()
            .WithMessage("The text is no JSON at byte 10: 'x' is an invalid start of a value.");
    }

    [Fact]
    public void Of_documents_with_the_same_id_the_last_one_counts_and_the_others_are_reported()
    {
        const string Text = "{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":\"a\",\"n\":1}";
        Import(Lines(Text)).Replaced.Should().Be(1);
        Find("a").Should().Be("{\"id\":\"a\",\"n\":1}");
        Import(Lines(Text)).Replaced.Should().Be(3);
        Import(Lines(Text), documentsPerCommit: 1).Replaced.Should().Be(3);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(1000)]
    public void A_document_is_refused_that_would_replace_another_one(int documentsPerCommit)
    {
        const string Text = "{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":\"a\",\"n\":1}\n{\"id\":\"c\"}";
        FluentActions.Invoking(() => Import(Lines(Text), replaces: false, documentsPerCommit: documentsPerCommit)).Should().Throw<ImportException>()
            .WithMessage("Line 3 of 'file' would replace the document 'a', and --no-replace forbids it. 2 documents before it are stored.*");
        _collection.Count.Should().Be(2);
        var importer = Import(Lines(Text), skipsBad: true, replaces: false, documentsPerCommit: documentsPerCommit);
        (importer.Imported, importer.Refused, importer.Replaced).Should().Be((1, 3, 0));
        Find("a").Should().Be("{\"id\":\"a\"}");
    }

    [Fact]
    public void Rows_need_a_column_of_ids()
    {
        FluentActions.Invoking(() => Import(Rows("name,size\nx,1\n"))).Should().Throw<ImportException>().WithMessage(
            "*has no column 'id': its first line names name, size. Name the column that has the ids with --id COLUMN.");
        _collection.Count.Should().Be(0);
        Import(Rows("name,size\nx,1\n", id: "name"));
        Find("x").Should().Be("""{"name":"x","size":1}""");
    }

    [Theory]
    [InlineData("id,a,b\n1,2,3\n\n2,3\n4,5,6\n", "Row 3 of * is no document. It has 2 fields, and the first line names 3.")]
    [InlineData("id,a,b\n1,2,3\n2,3,4,5\n4,5,6\n", "Row 2 of * is no document. It has 4 fields, and the first line names 3.")]
    [InlineData("id,a,b\n1,2,3\n,3,4\n4,5,6\n", "Row 2 of * is no document. The document has no id*")]
    public void A_row_that_is_no_document_is_refused(string text, string reason)
    {
        FluentActions.Invoking(() => Import(Rows(text))).Should().Throw<ImportException>()
            .WithMessage($"{reason} 1 document before it is stored. --skip-bad leaves such ones out, and counts them.");
        var importer = Import(Rows(text), skipsBad: true);
        (importer.Imported, importer.Refused).Should().Be((2, 1));
    }

    [Theory]
    [InlineData("", "* is empty: its first line must name the columns.")]
    [InlineData("\"id,a\n", "The first line of * cannot be read. A quoted field*")]
    [InlineData("id,a\n1,2\n2,\"x\"y\n3,4\n", "Row 2 of * cannot be read, and the import ends there. *closing quote. 1 document before it is stored.")]
    [InlineData("id,a\n1,2\n2,\"xy\n3,4\n", "Row 2 of * cannot be read, and the import ends there. *closing quote. 1 document before it is stored.")]
    [InlineData("id,a\n1,2\n2,\u00FF\n3,4\n", "Row 2 of * cannot be read, and the import ends there. Byte 12 of the file is not valid UTF-8. 1 document*")]
    [InlineData("id,a\n1,2\n2,\u00C3", "Row 2 of * cannot be read, and the import ends there. Byte 12 of the file is not valid UTF-8. 1 document*")]
    public void A_file_that_is_damaged_ends_the_import(string text, string reason)
    {
        foreach (var skipsBad in new[] { false, true })
            FluentActions.Invoking(() => Import(Rows(text), skipsBad)).Should().Throw<ImportException>().WithMessage(reason);
        _collection.Count.Should().Be(text.StartsWith("id", StringComparison.Ordinal) ? 1 : 0);
    }

    [Fact]
    public void Rows_may_be_long_and_have_all_characters()
    {
        var text = new StringBuilder("\u00EF\u00BB\u00BFid,a\r\n");
        var smile = Encoding.Latin1.GetString(Encoding.UTF8.GetBytes("\U0001F600"));
        for (var i = 0; i < 3000; i++)
            text.Append(i).Append(',').Append('x', i % 7).Append(smile).Append('y', i % 100).Append("\r\n");
        text.Append("long,").Append('z', 2_000_000);
        Import(Rows(text.ToString())).Imported.Should().Be(3001);
        for (var i = 0; i < 3000; i++)
            Find($"{i}").Should().Be($$"""{"id":{{i}},"a":"{{new string('x', i % 7)}}\uD83D\uDE00{{new string('y', i % 100)}}"}""");
        Find("long").Should().HaveLength(2_000_000 + """{"id":"long","a":""}""".Length);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Characters_are_read_in_parts_of_any_length(int length)
    {
        const string Text = "a\u00E9\u20AC\U0001F600b\U0001F601";
        using var reader = new Utf8TextReader(new MemoryStream(Encoding.UTF8.GetBytes(Text)));
        var buffer = new char[length];
        var read = new StringBuilder();
        for (int count; (count = reader.Read(buffer, 0, length)) > 0;)
            read.Append(buffer, 0, count);
        read.ToString().Should().Be(Text);
    }

    [Fact]
    public void Generated_documents_tell_how_many_there_are()
    {
        var read = new List<long>();
        var source = GeneratedDocuments.Of(1000, seed: 1);
        Import(source, progress: read.Add).Imported.Should().Be(1000);
        source.Size.Should().Be(1000);
        read.Should().BeInAscendingOrder().And.HaveCountGreaterThan(1).And.EndWith(1000);
    }

    private static ImportSource Lines(string bytes, int maxBytes = 1000) => new(
        "'file'", bytes.Length, (progress, stop) => JsonLines.Read(new MemoryStream(Encoding.Latin1.GetBytes(bytes)), progress, stop, maxBytes));

    // Each character is a byte.
    private ImportSource Rows(string bytes, string? id = null)
    {
        var file = Path.Combine(_directory, "rows.csv");
        File.WriteAllBytes(file, Encoding.Latin1.GetBytes(bytes));
        return CsvFile.Of(file, id);
    }

    private Importer Import(
        ImportSource source, bool skipsBad = false, bool replaces = true, int documentsPerCommit = 1000, Action<long>? progress = null)
    {
        var importer = new Importer(_collection, source, skipsBad, replaces, documentsPerCommit);
        importer.Run(progress ?? (static _ => { }), _stop);
        return importer;
    }

    private string? Find(string id) => _collection.TryGet(id, out var document) ? Encoding.Latin1.GetString(document.Json.Span) : null;
}
