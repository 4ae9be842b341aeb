using System.CommandLine;
using System.Text.Json;

namespace Voron.Documents.Tool;

/// <summary>Follows the changes of a collection of a server: the process that serves the store has it for itself.</summary>
internal static class WatchCommand
{
    public static Command Create()
    {
        var query = new Argument<string>("query") { Description = "The condition that a document meets, before or after the change.", DefaultValueFactory = _ => "" };
        var url = new Option<string>("--url") { Description = "Where 'documents serve' listens.", DefaultValueFactory = _ => "http://127.0.0.1:5080" };
        var collection = new Option<string>("--in") { Description = "The collection.", DefaultValueFactory = _ => "documents" };
        var fromStart = new Option<bool>("--from-start") { Description = "Begins with the oldest change that is kept." };
        var name = new Option<string?>("--name") { Description = "The name under which the store keeps the place: the next watch of that name continues there." };
        var command = new Command("watch", "Prints the changes of documents as they are made, one a line, until Ctrl+C.") { query, url, collection, fromStart, name };
        command.SetAction(async (parsed, stop) =>
        {
            var path = $"/collections/{Uri.EscapeDataString(parsed.GetValue(collection)!)}/watch?q={Uri.EscapeDataString(parsed.GetValue(query)!)}";
            if (parsed.GetValue(fromStart))
                path += "&from=start";
            if (parsed.GetValue(name) is { } consumer)
                path += $"&name={Uri.EscapeDataString(consumer)}";
            return await WatchAsync(Check(parsed.GetValue(url)!) + path, stop);
        });
        return command;
    }

    private static string Check(string url) =>
        Uri.TryCreate(url, UriKind.Absolute, out var uri) && (uri.Scheme == Uri.UriSchemeHttp || uri.Scheme == Uri.UriSchemeHttps)
            ? url.TrimEnd('/')
            : throw new ArgumentException($"'{url}' is no URL of a server. Use one such as http://127.0.0.1:5080.");

    private static async Task<int> WatchAsync(string address, CancellationToken stop)
    {
        using var client = new HttpClient { Timeout = Timeout.InfiniteTimeSpan };
        using var answer = await client.GetAsync(new Uri(address), HttpCompletionOption.ResponseHeadersRead, stop);
        if (!answer.IsSuccessStatusCode)
        {
            Console.Error.WriteLine(DetailOf(await answer.Content.ReadAsStringAsync(stop), (int)answer.StatusCode));
            return 1;
        }

        using var lines = new StreamReader(await answer.Content.ReadAsStreamAsync(stop));
        await using var output = StandardOutput.Open();
        var kind = "";
        while (await lines.ReadLineAsync(stop) is { } line)
        {
            if (line.StartsWith("event: ", StringComparison.Ordinal))
                kind = line[7..];
            else if (line.StartsWith("data: ", StringComparison.Ordinal) && !Print(output, kind, line[6..], out var result))
                return result;
        }

        Console.Error.WriteLine("The server has ended.");
        return 1;
    }

    // False at the end of the watch.
    private static bool Print(TextWriter output, string kind, string data, out int result)
    {
        result = kind == "lost" ? 1 : 0;
        if (kind is "put" or "delete")
            return TryWrite(output, $"{kind} {data}");
        if (kind == "begin")
            Console.Error.WriteLine("Watching.");
        else if (kind is "end" or "lost")
            Console.Error.WriteLine(kind == "end" ? "The collection was deleted." : data);
        return kind is not ("end" or "lost");
    }

    private static bool TryWrite(TextWriter output, string line)
    {
        try
        {
            output.WriteLine(line);
            return true;
        }
        catch (IOException e) when (StandardOutput.IsBroken(e))
        {
            // Its reader has seen enough, such as head.
            return false;
        }
    }

    private static string DetailOf(string body, int status)
    {
        try
        {
            using var problem = JsonDocument.Parse(body);
            return problem.RootElement.GetProperty("detail").GetString()!;
        }
        catch (Exception e) when (e is JsonException or KeyNotFoundException or InvalidOperationException)
        {
            return $"The server has answered with status {status}.";
        }
    }
}
