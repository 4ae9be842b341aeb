using System.Net;
using Voron.Documents.Web;

namespace Voron.Documents.Tests.Web;

/// <summary>Documents are read, stored and deleted over HTTP; errors say what is wrong.</summary>
[Quick]
public sealed class DocumentEndpointTests : IAsyncLifetime
{
    private readonly CancellationToken _stop = TestContext.Current.CancellationToken;
    private RunningServer _server = null!;

    public async ValueTask InitializeAsync() => _server = await RunningServer.StartAsync(new ServerOptions { MaxDocumentBytes = 10_000 });

    public ValueTask DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task A_document_is_created_replaced_read_and_deleted_with_its_version()
    {
        using var created = await PutAsync("a", """{"n": 1}""");
        created.StatusCode.Should().Be(HttpStatusCode.Created);
        created.Headers.Location.Should().Be("/collections/items/documents/a");
        var first = created.Headers.ETag!.ToString();
        using var replaced = await PutAsync("a", """{"n": 2}""", ("If-Match", first));
        replaced.StatusCode.Should().Be(HttpStatusCode.NoContent);
        var second = replaced.Headers.ETag!.ToString();
        second.Should().NotBe(first);

        using var read = await GetAsync("a");
        read.Headers.ETag!.ToString().Should().Be(second);
        (await read.Content.ReadAsStringAsync(_stop)).Should().Be("""{"n": 2}""");
        (await GetAsync("a", ("If-None-Match", second))).StatusCode.Should().Be(HttpStatusCode.NotModified);
        (await GetAsync("a", ("If-None-Match", first))).StatusCode.Should().Be(HttpStatusCode.OK);

        using var conflict = await PutAsync("a", """{"n": 3}""", ("If-Match", first));
        conflict.StatusCode.Should().Be(HttpStatusCode.PreconditionFailed);
        conflict.Headers.ETag!.ToString().Should().Be(second);
        await MustBeProblemAsync(conflict, "Document 'a' was not written");
        (await PutAsync("a", "{}", ("If-None-Match", "*"))).StatusCode.Should().Be(HttpStatusCode.PreconditionFailed);
        (await PutAsync("none", "{}", ("If-Match", "*"))).StatusCode.Should().Be(HttpStatusCode.PreconditionFailed);
        (await PutAsync("a", """{"n": 4}""", ("If-Match", "*"))).StatusCode.Should().Be(HttpStatusCode.NoContent);
        (await DeleteAsync("a", ("If-Match", second))).StatusCode.Should().Be(HttpStatusCode.PreconditionFailed);
        (await DeleteAsync("a")).StatusCode.Should().Be(HttpStatusCode.NoContent);
        (await DeleteAsync("a")).StatusCode.Should().Be(HttpStatusCode.NotFound);
        (await PutAsync("a", "{}", ("If-None-Match", "*"))).StatusCode.Should().Be(HttpStatusCode.Created);
    }

    [Theory]
    [InlineData("/", "%2F")]
    [InlineData("a/b c?d#e", "a%2Fb%20c%3Fd%23e")]
    [InlineData("%2F", "%252F")]
    [InlineData("100%", "100%25")]
    [InlineData("é漢🚀", "%C3%A9%E6%BC%A2%F0%9F%9A%80")]
    [InlineData("a..b", "a..b")]
    [InlineData("+", "+")]
    [InlineData("\"<>&'", "%22%3C%3E%26%27")]
    public async Task An_id_may_have_any_characters(string id, string encoded)
    {
        using var put = await PutAsync(encoded, """{"n":1}""");
        put.StatusCode.Should().Be(HttpStatusCode.Created);
        _server.Store.GetCollection("items").TryGet(id, out _).Should().BeTrue();
        using var again = await _server.SendAsync("GET", put.Headers.Location!.OriginalString);
        (await again.Content.ReadAsStringAsync(_stop)).Should().Be("""{"n":1}""");
        (await DeleteAsync(encoded)).StatusCode.Should().Be(HttpStatusCode.NoContent);
    }

    [Fact]
    public async Task An_id_of_periods_is_refused_and_taken_for_nothing_else()
    {
        await MustBeProblemAsync(await PutAsync("%2E%2E/documents/x", "{}"), "A name in the path is '.' or '..'", HttpStatusCode.BadRequest);
        _server.Store.GetCollection("items").Count.Should().Be(0);
    }

    [Theory]
    [InlineData("nonsense", "The text is no JSON")]
    [InlineData("[1]", "The text is no JSON object")]
    [InlineData("", "The text is no JSON")]
    [InlineData("{\"a\":1} x", "The text is no JSON")]
    public async Task A_body_that_is_no_document_is_a_bad_request(string body, string message) =>
        await MustBeProblemAsync(await PutAsync("a", body), message, HttpStatusCode.BadRequest);

    [Fact]
    public async Task Bad_requests_are_told_apart()
    {
        var invalid = new ByteArrayContent([.. "{\"a\":\""u8, 0xFF, .. "\"}"u8]);
        await MustBeProblemAsync(
            await _server.SendAsync("PUT", "/collections/items/documents/a", invalid), "The document is not valid UTF-8.", HttpStatusCode.BadRequest);
        await MustBeProblemAsync(
            await PutAsync("a", $$"""{"a":"{{new string('x', 10_000)}}"}"""), "10000 bytes", HttpStatusCode.RequestEntityTooLarge);
        await MustBeProblemAsync(await PutAsync(new string('i', 201), "{}"), "201 bytes", HttpStatusCode.BadRequest);
        await MustBeProblemAsync(await PutAsync("a", "{}", ("If-Match", "1")), "If-Match is 1", HttpStatusCode.BadRequest);
        await MustBeProblemAsync(await GetAsync("none"), "There is no document 'none'", HttpStatusCode.NotFound);
        await MustBeProblemAsync(
            await _server.SendAsync("GET", "/collections/none/documents/a"), "There is no collection 'none'", HttpStatusCode.NotFound);
        await MustBeProblemAsync(await _server.SendAsync("GET", "/nowhere"), "There is no GET /nowhere", HttpStatusCode.NotFound);
        await MustBeProblemAsync(
            await _server.SendAsync("PATCH", "/collections/items/documents/a"), "There is no PATCH", HttpStatusCode.MethodNotAllowed);
        await MustBeProblemAsync(await PutAsync("a", "{}", ("Sec-Fetch-Site", "cross-site")), "A page of another site", HttpStatusCode.Forbidden);
        await MustBeProblemAsync(await GetAsync("a", ("Host", "evil.example")), "for 'evil.example'", HttpStatusCode.MisdirectedRequest);
    }

    [Fact]
    public async Task An_attachment_needs_a_content_type_that_is_one()
    {
        await PutAsync("a", "{}");
        using var content = new ByteArrayContent([1]);
        content.Headers.TryAddWithoutValidation("Content-Type", "not a type");
        using var answer = await _server.SendAsync("PUT", "/collections/items/documents/a/attachments/z", content);
        await MustBeProblemAsync(answer, "'not a type' is no content type.", HttpStatusCode.BadRequest);
    }

    [Fact]
    public async Task A_full_store_and_a_closed_one_are_unavailable()
    {
        var full = DocumentStore.OpenInMemory(new InMemoryOptions { MaxDataBytes = 4 << 20 });
        await using var server = await RunningServer.StartAsync(store: full);
        var content = new byte[8 << 20];
        (await server.SendAsync("PUT", "/collections/items/documents/a", RunningServer.Json("{}"))).StatusCode.Should().Be(HttpStatusCode.Created);
        using var answer = await server.SendAsync("PUT", "/collections/items/documents/a/attachments/big", RunningServer.Bytes(content, "image/png"));
        await MustBeProblemAsync(answer, "no space", HttpStatusCode.ServiceUnavailable);
        (await server.SendAsync("PUT", "/collections/items/documents/b", RunningServer.Json("{}"))).StatusCode.Should().Be(HttpStatusCode.Created);

        full.Dispose();
        await MustBeProblemAsync(
            await server.SendAsync("GET", "/collections/items/documents/a"), "The store is closing.", HttpStatusCode.ServiceUnavailable);
    }

    private Task<HttpResponseMessage> PutAsync(string id, string json, params (string, string)[] headers) =>
        _server.SendAsync("PUT", $"/collections/items/documents/{id}", RunningServer.Json(json), headers);

    private Task<HttpResponseMessage> GetAsync(string id, params (string, string)[] headers) =>
        _server.SendAsync("GET", $"/collections/items/documents/{id}", null, headers);

    private Task<HttpResponseMessage> DeleteAsync(string id, params (string, string)[] headers) =>
        _server.SendAsync("DELETE", $"/collections/items/documents/{id}", null, headers);

    private static async Task MustBeProblemAsync(HttpResponseMessage answer, string detail, HttpStatusCode? status = null)
    {
        var text = await answer.Content.ReadAsStringAsync();
        answer.StatusCode.Should().Be(status ?? answer.StatusCode, text);
        answer.Content.Headers.ContentType!.MediaType.Should().Be("application/problem+json");
        System.Text.Json.JsonDocument.Parse(text).RootElement.GetProperty("detail").GetString().Should().Contain(detail);
        answer.Dispose();
    }
}
