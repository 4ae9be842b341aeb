using System.Net;
using System.Text;
using System.Text.Json;
using Voron.Documents.Web;

namespace Voron.Documents.Tests.Web;

/// <summary>Collections, indexes, queries, files of documents, attachments and the page, over HTTP.</summary>
[Quick]
public sealed class CollectionEndpointTests : IAsyncLifetime
{
    private readonly CancellationToken _stop = TestContext.Current.CancellationToken;
    private RunningServer _server = null!;

    public async ValueTask InitializeAsync() =>
        _server = await RunningServer.StartAsync(new ServerOptions { MaxDocumentBytes = 1000, MaxUploadBytes = 1_000_000 });

    public ValueTask DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task Collections_and_indexes_come_and_go()
    {
        (await _server.SendAsync("PUT", "/collections/a%2Fb")).StatusCode.Should().Be(HttpStatusCode.Created);
        (await _server.SendAsync("PUT", "/collections/a%2Fb")).StatusCode.Should().Be(HttpStatusCode.NoContent);
        (await _server.SendAsync("PUT", $"/collections/{new string('n', 201)}")).StatusCode.Should().Be(HttpStatusCode.BadRequest);
        (await JsonAsync("/collections")).GetProperty("collections").EnumerateArray().Select(each => each.GetProperty("name").GetString()).Should().Equal("a/b", "items");
        using var indexed = await _server.SendAsync("PUT", "/collections/a%2Fb/indexes?path=depends[*].name");
        indexed.StatusCode.Should().Be(HttpStatusCode.OK);
        (await JsonAsync("/collections/a%2Fb")).GetProperty("indexes")[0].GetProperty("path").GetString().Should().Be("$.depends[*].name");
        (await _server.SendAsync("PUT", "/collections/a%2Fb/indexes?path=[")).StatusCode.Should().Be(HttpStatusCode.BadRequest);
        (await _server.SendAsync("PUT", "/collections/a%2Fb/indexes")).StatusCode.Should().Be(HttpStatusCode.BadRequest);
        (await _server.SendAsync("PUT", "/collections/none/indexes?path=a")).StatusCode.Should().Be(HttpStatusCode.NotFound);
        (await _server.SendAsync("DELETE", "/collections/a%2Fb/indexes?path=depends[*].name")).StatusCode.Should().Be(HttpStatusCode.OK);
        (await JsonAsync("/collections/a%2Fb")).GetProperty("indexes").GetArrayLength().Should().Be(0);
        (await _server.SendAsync("DELETE", "/collections/a%2Fb/indexes?path=depends[*].name")).StatusCode.Should().Be(HttpStatusCode.NotFound);
        (await _server.SendAsync("DELETE", "/collections/a%2Fb")).StatusCode.Should().Be(HttpStatusCode.NoContent);
        (await _server.SendAsync("DELETE", "/collections/a%2Fb")).StatusCode.Should().Be(HttpStatusCode.NotFound);
        (await JsonAsync("/stats")).GetProperty("collections").GetArrayLength().Should().Be(1);
    }

    [Fact]
    public async Task A_query_has_pages()
    {
        await BulkAsync(string.Join('\n', Enumerable.Range(0, 50).Select(n => $$"""{"id":"d{{n}}","n":{{n}}, "big": 12345678901234567890.10}""")));
        await _server.SendAsync("PUT", "/collections/items/indexes?path=n");
        var ids = new List<string>();
        var after = (string?)"";
        var pages = 0;
        while (after != null)
        {
            var page = await JsonAsync($"/collections/items/query?q=n%20%3E%3D%2010%20order%20by%20n&take=15&after={Uri.EscapeDataString(after)}");
            ids.AddRange(page.GetProperty("documents").EnumerateArray().Select(each => each.GetProperty("id").GetString()!));
            page.GetProperty("plan").GetString().Should().Contain("index $.n");
            after = page.GetProperty("next").GetString();
            pages++;
        }

        ids.Should().Equal(Enumerable.Range(10, 40).Select(n => $"d{n}"));
        pages.Should().Be(3);
        var first = (await JsonAsync("/collections/items/query")).GetProperty("documents")[0];
        first.GetProperty("document").GetRawText().Should().Be("""{"id":"d0","n":0, "big": 12345678901234567890.10}""");
        first.GetProperty("version").GetString().Should().NotBeNullOrEmpty();
        foreach (var wrong in new[] { "q=n%20%3D", "take=0", "take=1001", "take=x", "after=x" })
            (await _server.SendAsync("GET", $"/collections/items/query?{wrong}")).StatusCode.Should().Be(HttpStatusCode.BadRequest, wrong);
        (await _server.SendAsync("GET", "/collections/items/search?q=a")).StatusCode.Should().Be(HttpStatusCode.BadRequest, "there is no text index");
    }

    [Fact]
    public async Task Words_are_searched_for_when_there_is_a_text_index()
    {
        await _server.SendAsync("PUT", "/collections/items/documents/a", RunningServer.Json("""{"word":"tree","more":"leaf"}"""));
        (await JsonAsync("/collections/items")).GetProperty("textFields").GetArrayLength().Should().Be(0);
        (await _server.SendAsync("PUT", "/collections/items/text?path=word&path=more")).StatusCode.Should().Be(HttpStatusCode.OK);
        (await JsonAsync("/collections/items")).GetProperty("textFields").GetArrayLength().Should().Be(2);
        var found = (await JsonAsync("/collections/items/search?q=leaf%20-bush")).GetProperty("documents");
        found[0].GetProperty("id").GetString().Should().Be("a");
        found[0].GetProperty("version").GetString().Should().NotBeNullOrEmpty();
        (await _server.SendAsync("GET", "/collections/items/search?q=")).StatusCode.Should().Be(HttpStatusCode.BadRequest);
        (await _server.SendAsync("PUT", "/collections/items/text")).StatusCode.Should().Be(HttpStatusCode.OK);
        (await _server.SendAsync("GET", "/collections/items/search?q=leaf")).StatusCode.Should().Be(HttpStatusCode.BadRequest);
    }

    [Fact]
    public async Task Refused_lines_are_named_and_the_others_stored()
    {
        var text = $"{{\"id\":\"a\"}}\r\n\nnonsense\n{{\"x\":1}}\n{{\"id\":\"long\",\"t\":\"{new string('x', 2000)}\"}}\n{{\"id\":\"b\"}}";
        var answer = await BulkAsync(text);
        answer.GetProperty("stored").GetInt32().Should().Be(2);
        answer.GetProperty("refused").GetInt32().Should().Be(3);
        answer.GetProperty("refusedLines").EnumerateArray().Select(line => line.GetProperty("line").GetInt32()).Should().Equal(3, 4, 5);
        answer.GetProperty("refusedLines")[2].GetProperty("reason").GetString().Should().Be("The line has more than 1000 bytes.");
        var many = await BulkAsync(string.Join('\n', Enumerable.Range(0, 3000).Select(n => n % 3 == 0 ? "x" : $$"""{"id":"m{{n}}"}""")));
        many.GetProperty("stored").GetInt32().Should().Be(2000);
        many.GetProperty("refused").GetInt32().Should().Be(1000);
        many.GetProperty("refusedLines").GetArrayLength().Should().Be(100);
        _server.Store.GetCollection("items").Count.Should().Be(2002);

        (await _server.SendAsync("POST", "/collections/items/documents", new StringContent("{}"))).StatusCode.Should().Be(HttpStatusCode.UnsupportedMediaType);
        var huge = RunningServer.Bytes(new byte[1_000_001], "application/x-ndjson");
        (await _server.SendAsync("POST", "/collections/items/documents", huge)).StatusCode.Should().Be(HttpStatusCode.RequestEntityTooLarge);
    }

    [Fact]
    public async Task Attachments_are_stored_read_in_parts_and_deleted()
    {
        const string Path = "/collections/items/documents/a/attachments";
        var content = new byte[500_000];
        new Random(1).NextBytes(content);
        (await _server.SendAsync("PUT", $"{Path}/p", RunningServer.Bytes(content, "image/png"))).StatusCode.Should().Be(HttpStatusCode.NotFound);
        await _server.SendAsync("PUT", "/collections/items/documents/a", RunningServer.Json("{}"));
        (await _server.SendAsync("PUT", $"{Path}/%C3%A9%2F1%20%22x%22.html", RunningServer.Bytes(content, "text/html"))).StatusCode.Should().Be(HttpStatusCode.Created);
        var listed = (await JsonAsync(Path)).GetProperty("attachments")[0];
        listed.GetProperty("name").GetString().Should().Be("é/1 \"x\".html");
        listed.GetProperty("length").GetInt32().Should().Be(content.Length);

        using var read = await _server.SendAsync("GET", $"{Path}/%C3%A9%2F1%20%22x%22.html");
        (await read.Content.ReadAsByteArrayAsync(_stop)).Should().Equal(content);
        read.Content.Headers.ContentDisposition!.DispositionType.Should().Be("attachment", "no browser shows it as a page");
        read.Headers.GetValues("Content-Security-Policy").Single().Should().Contain("sandbox");
        using var part = await _server.SendAsync("GET", $"{Path}/%C3%A9%2F1%20%22x%22.html", null, ("Range", "bytes=-100"));
        part.StatusCode.Should().Be(HttpStatusCode.PartialContent);
        (await part.Content.ReadAsByteArrayAsync(_stop)).Should().Equal(content[^100..]);

        (await _server.SendAsync("PUT", $"{Path}/big", RunningServer.Bytes(new byte[1_000_001], "image/png"))).StatusCode.Should().Be(HttpStatusCode.RequestEntityTooLarge);
        (await _server.SendAsync("GET", $"{Path}/big")).StatusCode.Should().Be(HttpStatusCode.NotFound);
        (await _server.SendAsync("DELETE", $"{Path}/%C3%A9%2F1%20%22x%22.html")).StatusCode.Should().Be(HttpStatusCode.NoContent);
        (await _server.SendAsync("DELETE", $"{Path}/%C3%A9%2F1%20%22x%22.html")).StatusCode.Should().Be(HttpStatusCode.NotFound);
        (await _server.SendAsync("GET", "/collections/items/documents/none/attachments")).StatusCode.Should().Be(HttpStatusCode.NotFound);
    }

    [Fact]
    public async Task A_download_continues_while_its_document_is_deleted()
    {
        await _server.SendAsync("PUT", "/collections/items/documents/a", RunningServer.Json("{}"));
        var content = new byte[900_000];
        new Random(2).NextBytes(content);
        await _server.SendAsync("PUT", "/collections/items/documents/a/attachments/z", RunningServer.Bytes(content, "image/png"));
        using var download = await _server.SendAsync("GET", "/collections/items/documents/a/attachments/z");
        (await _server.SendAsync("DELETE", "/collections/items")).StatusCode.Should().Be(HttpStatusCode.NoContent);
        (await download.Content.ReadAsByteArrayAsync(_stop)).Should().Equal(content);
    }

    [Fact]
    public async Task Documents_end_while_the_server_runs()
    {
        var time = new Microsoft.Extensions.Time.Testing.FakeTimeProvider(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero));
        await using var server = await RunningServer.StartAsync(new ServerOptions { Time = time }, DocumentStore.OpenInMemory(time: time));
        (await server.SendAsync("PUT", "/collections/items/expiry?path=end")).StatusCode.Should().Be(HttpStatusCode.OK);
        (await server.SendAsync("PUT", "/collections/items/expiry?path=end[*]")).StatusCode.Should().Be(HttpStatusCode.BadRequest);
        await server.SendAsync("PUT", "/collections/items/documents/a", RunningServer.Json("{\"end\":\"2026-01-01T00:00:30Z\"}"));
        (await server.SendAsync("GET", "/collections/items/documents/a")).StatusCode.Should().Be(HttpStatusCode.OK);
        time.Advance(TimeSpan.FromSeconds(31));
        (await server.SendAsync("GET", "/collections/items/documents/a")).StatusCode.Should().Be(HttpStatusCode.NotFound);
        server.Store.GetCollection("items").Count.Should().Be(1);
        time.Advance(TimeSpan.FromSeconds(30));
        await TestWait.UntilAsync(() => server.Store.GetCollection("items").Count == 0);
        (await server.SendAsync("DELETE", "/collections/items/expiry")).StatusCode.Should().Be(HttpStatusCode.OK);
    }

    [Fact]
    public async Task The_page_is_complete_and_runs_nothing_of_others()
    {
        using var page = await _server.SendAsync("GET", "/");
        var html = await page.Content.ReadAsStringAsync(_stop);
        page.Headers.GetValues("Content-Security-Policy").Single().Should().StartWith("default-src 'none'; script-src 'self'");
        foreach (var file in new[] { "app.css", "app.js", "icon.svg" })
        {
            html.Should().Contain(file);
            (await _server.SendAsync("GET", $"/{file}")).StatusCode.Should().Be(HttpStatusCode.OK);
        }

        html.Should().NotContain("http://").And.NotContain("https://");
        (await _server.SendAsync("GET", "/", null, ("If-None-Match", page.Headers.ETag!.ToString()))).StatusCode.Should().Be(HttpStatusCode.NotModified);
    }

    private async Task<JsonElement> BulkAsync(string text)
    {
        using var answer = await _server.SendAsync("POST", "/collections/items/documents", new StringContent(text, Encoding.UTF8, "application/x-ndjson"));
        answer.StatusCode.Should().Be(HttpStatusCode.OK);
        return JsonDocument.Parse(await answer.Content.ReadAsStringAsync(_stop)).RootElement;
    }

    private async Task<JsonElement> JsonAsync(string path)
    {
        using var answer = await _server.SendAsync("GET", path);
        var text = await answer.Content.ReadAsStringAsync(_stop);
        answer.StatusCode.Should().Be(HttpStatusCode.OK, text);
        return JsonDocument.Parse(text).RootElement;
    }
}
