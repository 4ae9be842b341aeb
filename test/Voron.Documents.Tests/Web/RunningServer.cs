using System.Net.Http.Headers;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.Logging;
using Voron.Documents.Web;

namespace Voron.Documents.Tests.Web;

/// <summary>A server on a free port, with a store in memory.</summary>
internal sealed class RunningServer : IAsyncDisposable
{
    private readonly WebApplication _app;

    private RunningServer(DocumentStore store, WebApplication app)
    {
        Store = store;
        _app = app;
        var handler = new SocketsHttpHandler { Expect100ContinueTimeout = TestWait.Limit };
        Client = new HttpClient(handler) { BaseAddress = new Uri(app.Urls.Single()), Timeout = TestWait.Limit };
    }

    public DocumentStore Store { get; }

    public HttpClient Client { get; }

    public static async Task<RunningServer> StartAsync(ServerOptions? options = null, DocumentStore? store = null)
    {
        store ??= DocumentStore.OpenInMemory();
        await store.CreateCollectionAsync("items");
        var app = DocumentServer.Create(store, (options ?? new ServerOptions()) with
        {
            Url = "http://127.0.0.1:0",
            Logging = static logging => logging.SetMinimumLevel(LogLevel.None),
        });
        await app.StartAsync();
        return new RunningServer(store, app);
    }

    /// <summary>Sends a request whose path and headers go out as they are.</summary>
    public async Task<HttpResponseMessage> SendAsync(
        string method, string path, HttpContent? content = null, params (string Name, string Value)[] headers)
    {
        var asIs = new UriCreationOptions { DangerousDisablePathAndQueryCanonicalization = true };
        using var request = new HttpRequestMessage(new HttpMethod(method), new Uri(_app.Urls.Single() + path, asIs)) { Content = content };

        // A server that refuses a body unread closes the connection: a client that is still sending may then miss the answer.
        request.Headers.ExpectContinue = content != null;
        foreach (var (name, value) in headers)
            request.Headers.TryAddWithoutValidation(name, value);
        return await Client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
    }

    public static StringContent Json(string text) => new(text, Encoding.UTF8, "application/json");

    public static ByteArrayContent Bytes(byte[] bytes, string type)
    {
        var content = new ByteArrayContent(bytes);
        content.Headers.ContentType = MediaTypeHeaderValue.Parse(type);
        return content;
    }

    public Task StopAsync() => _app.StopAsync();

    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await _app.DisposeAsync();
        Store.Dispose();
    }
}
