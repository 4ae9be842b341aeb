using System.Net;
using Voron.Documents.Web;

namespace Voron.Documents.Tests.Web;

/// <summary>Changes are server-sent events, until the client, the collection or the server goes.</summary>
[Quick]
public sealed class WatchEndpointTests : IAsyncLifetime
{
    private RunningServer _server = null!;

    public async ValueTask InitializeAsync() =>
        _server = await RunningServer.StartAsync(new ServerOptions { MaxWatches = 2, WatchPulse = TimeSpan.FromMilliseconds(200) });

    public ValueTask DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task Changes_are_events_and_a_client_that_comes_back_continues()
    {
        string position;
        using (var watch = await WatchAsync("?q=n%20%3E%201"))
        {
            await PutAsync("a", "{\n\"n\": 1}");
            await PutAsync("a", "{\n\"n\": 2}");
            var (name, id, data) = await watch.NextAsync();
            name.Should().Be("put");
            position = id;
            data.Should().MatchRegex("""^\{"id":"a","version":"\d+","isMatch":true,"document":\{"n":2\}\}$""");
            await watch.PulseAsync();
        }

        await _server.SendAsync("DELETE", "/collections/items/documents/a");
        using var again = await WatchAsync("", ("Last-Event-ID", position));
        var next = await again.NextAsync();
        (next.Name, next.Data).Should().Be(("delete", "{\"id\":\"a\"}"));
    }

    [Fact]
    public async Task Wrong_watches_are_refused()
    {
        (await _server.SendAsync("GET", "/collections/items/watch?q=n%20%3D")).StatusCode.Should().Be(HttpStatusCode.BadRequest);
        (await _server.SendAsync("GET", "/collections/items/watch?after=x")).StatusCode.Should().Be(HttpStatusCode.BadRequest);
        (await _server.SendAsync("GET", "/collections/none/watch")).StatusCode.Should().Be(HttpStatusCode.NotFound);
        using (await WatchAsync())
        using (await WatchAsync())
            (await _server.SendAsync("GET", "/collections/items/watch")).StatusCode.Should().Be(HttpStatusCode.ServiceUnavailable);
    }

    [Fact]
    public async Task A_watch_ends_with_its_collection()
    {
        using var watch = await WatchAsync();
        await _server.SendAsync("DELETE", "/collections/items");
        (await watch.NextAsync()).Name.Should().Be("end");
    }

    [Fact]
    public async Task A_watch_ends_when_the_server_stops()
    {
        using var watch = await WatchAsync();
        await _server.StopAsync().WaitAsync(TestWait.Limit, TestContext.Current.CancellationToken);
        await FluentActions.Awaiting(watch.NextAsync).Should().ThrowAsync<Exception>();
    }

    // It takes nothing, while documents are stored that are more than all buffers between it and the server.
    [Fact]
    public async Task A_slow_client_keeps_no_writer_waiting()
    {
        using var watch = await WatchAsync();
        var text = new string('x', 500_000);
        for (var i = 0; i < 40; i++)
            (await PutAsync($"d{i}", $$"""{"text":"{{text}}"}""")).StatusCode.Should().Be(HttpStatusCode.Created);
        _server.Store.Environment.GetStatistics().OpenReaders.Should().Be(0, "a watch that waits for its client holds no snapshot");
        for (var i = 0; i < 40; i++)
            (await watch.NextAsync()).Data.Should().StartWith($"{{\"id\":\"d{i}\"");
    }

    private Task<HttpResponseMessage> PutAsync(string id, string json) =>
        _server.SendAsync("PUT", $"/collections/items/documents/{id}", RunningServer.Json(json));

    private async Task<EventReader> WatchAsync(string query = "", params (string, string)[] headers)
    {
        var answer = await _server.SendAsync("GET", $"/collections/items/watch{query}", null, headers);
        answer.StatusCode.Should().Be(HttpStatusCode.OK);
        var reader = new EventReader(answer, await answer.Content.ReadAsStreamAsync());
        (await reader.NextAsync()).Name.Should().Be("begin");
        return reader;
    }

    private sealed class EventReader(HttpResponseMessage answer, Stream stream) : IDisposable
    {
        private readonly StreamReader _lines = new(stream);

        public async Task PulseAsync()
        {
            while ((await LineAsync()).StartsWith(':') == false)
            {
            }
        }

        public async Task<(string Name, string Id, string Data)> NextAsync()
        {
            var (name, id, data) = ("", "", "");
            while (true)
            {
                var line = await LineAsync();
                if (line.Length == 0 && name.Length > 0)
                    return (name, id, data);
                if (line.StartsWith("event: ", StringComparison.Ordinal))
                    name = line[7..];
                else if (line.StartsWith("id: ", StringComparison.Ordinal))
                    id = line[4..];
                else if (line.StartsWith("data: ", StringComparison.Ordinal))
                    data = line[6..];
            }
        }

        public void Dispose()
        {
            _lines.Dispose();
            answer.Dispose();
        }

        private async Task<string> LineAsync() =>
            await _lines.ReadLineAsync().WaitAsync(TestWait.Limit) ?? throw new EndOfStreamException("The watch has ended.");
    }
}
