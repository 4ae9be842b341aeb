using System.CommandLine;
using System.Net.Sockets;
using Microsoft.AspNetCore.Builder;
using Voron.Documents.Web;

namespace Voron.Documents.Tool;

/// <summary>Serves a store over HTTP, until Ctrl+C or SIGTERM.</summary>
internal static class ServeCommand
{
    public static Command Create()
    {
        var store = new StoreOptions();
        var urls = new Option<string>("--urls")
        {
            Description = "Where it listens, such as http://127.0.0.1:5080. It knows no users: each client that reaches it reads and writes.",
        };
        urls.DefaultValueFactory = _ => new ServerOptions().Url;
        var command = new Command("serve", "Serves the store over HTTP, with a page for browsers.") { urls };
        store.AddTo(command).SetAction(async (parsed, stop) =>
        {
            var options = new ServerOptions { Url = parsed.GetValue(urls)! };
            using var documents = store.OpenOrCreate(parsed);
            await documents.CreateCollectionAsync(store.CollectionOf(parsed), stop);
            await using var server = DocumentServer.Create(documents, options);
            await StartAsync(server, options.Url, stop);
            Console.WriteLine($"Now listening on: {string.Join(' ', server.Urls)}");
            await WaitAsync(stop);

            // Requests that are under way get their answers, watches end, and then the store is closed.
            await server.StopAsync(CancellationToken.None);
            return 0;
        });
        return command;
    }

    private static async Task StartAsync(WebApplication server, string urls, CancellationToken stop)
    {
        try
        {
            await server.StartAsync(stop);
        }
        catch (Exception e) when (e is SocketException or InvalidOperationException)
        {
            // Kestrel names the address of a port that is in use, but not one that this machine does not have.
            throw new IOException($"The server cannot listen at {urls}: {e.Message}", e);
        }
    }

    private static async Task WaitAsync(CancellationToken stop)
    {
        var stopped = new TaskCompletionSource();
        await using var registration = stop.Register(stopped.SetResult);
        await stopped.Task;
    }
}
