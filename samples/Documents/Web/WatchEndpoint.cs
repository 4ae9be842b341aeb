using System.Buffers;
using Voron.Feeds;

namespace Voron.Documents.Web;

/// <summary>The changes of a collection as server-sent events, whose ids are positions: a client that comes back continues where it was.</summary>
internal sealed class WatchEndpoint(DocumentStore store, ServerOptions options, CancellationToken stopping)
{
    private int _watches;

    public void Map(IEndpointRouteBuilder app) => app.MapGet("/collections/{c}/watch", WatchAsync);

    private async Task WatchAsync(HttpContext context)
    {
        var collection = PathNames.Of(context).In(store);
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(context.RequestAborted, stopping);
        if (Interlocked.Increment(ref _watches) > options.MaxWatches)
        {
            Interlocked.Decrement(ref _watches);
            throw new ServerException(StatusCodes.Status503ServiceUnavailable, $"{options.MaxWatches} clients watch already, which is the limit.");
        }

        try
        {
            var changes = collection.WatchAsync(OptionsOf(context.Request), ended.Token);
            context.Response.ContentType = "text/event-stream";
            context.Response.Headers.CacheControl = "no-store";
            await SendAsync(context.Response, changes, ended.Token);
        }
        catch (OperationCanceledException) when (ended.IsCancellationRequested)
        {
            // The client has gone, or the server stops: both are the end of a watch.
        }
        finally
        {
            Interlocked.Decrement(ref _watches);
        }
    }

    private static WatchOptions OptionsOf(HttpRequest request)
    {
        var query = request.Query;
        ChangePosition? after = null;
        var text = request.Headers["Last-Event-ID"].FirstOrDefault() ?? query["after"].FirstOrDefault();
        if (!string.IsNullOrEmpty(text))
        {
            after = ChangePosition.TryParse(text, out var position)
                ? position
                : throw new ServerException(StatusCodes.Status400BadRequest, $"'{text}' is no position. Use the id of an event.");
        }

        return new WatchOptions
        {
            After = after,
            Consumer = query["name"].FirstOrDefault(),
            FromStart = query["from"] == "start",
            Query = query["q"].FirstOrDefault() is { Length: > 0 } condition ? Query.Parse(condition) : null,
        };
    }

    // A client that is slow makes this wait, and nothing else: between two changes, the watch holds nothing. One that takes nothing at all is
    // disconnected by the server's limit for slow clients.
    private async Task SendAsync(HttpResponse response, IAsyncEnumerable<DocumentChange> source, CancellationToken cancellation)
    {
        await using var changes = source.GetAsyncEnumerator(cancellation);
        await WriteAsync(response, "event: begin\ndata: {}\n\n"u8.ToArray(), cancellation);
        while (true)
        {
            var next = changes.MoveNextAsync().AsTask();
            while (await Task.WhenAny(next, Task.Delay(options.WatchPulse, cancellation)) != next && !cancellation.IsCancellationRequested)
                await WriteAsync(response, ": nothing new\n\n"u8.ToArray(), cancellation);
            try
            {
                if (!await next)
                    break;
            }
            catch (ChangesLostException e)
            {
                await WriteAsync(response, Encoding.UTF8.GetBytes($"event: lost\ndata: {JsonEncodedText.Encode(e.Message)}\n\n"), cancellation);
                return;
            }

            await WriteAsync(response, ToEvent(changes.Current), cancellation);
        }

        await WriteAsync(response, "event: end\ndata: {}\n\n"u8.ToArray(), cancellation);
    }

    private static async Task WriteAsync(HttpResponse response, ReadOnlyMemory<byte> bytes, CancellationToken cancellation)
    {
        await response.Body.WriteAsync(bytes, cancellation);
        await response.Body.FlushAsync(cancellation);
    }

    // A document may have line breaks between its values, which end a line of an event: it is written again, without them.
    private static byte[] ToEvent(DocumentChange change)
    {
        var buffer = new ArrayBufferWriter<byte>();
        buffer.Write(Encoding.UTF8.GetBytes($"id: {change.Position}\nevent: {(change.Kind == DocumentChangeKind.Put ? "put" : "delete")}\ndata: "));
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            json.WriteString("id", change.Id);
            if (change.Document is { } document)
            {
                json.WriteString("version", $"{change.Version}");
                json.WriteBoolean("isMatch", change.IsMatch);
                json.WritePropertyName("document");
                using var parsed = JsonDocument.Parse(document.Json);
                parsed.WriteTo(json);
            }

            json.WriteEndObject();
        }

        buffer.Write("\n\n"u8);
        return buffer.WrittenSpan.ToArray();
    }
}
