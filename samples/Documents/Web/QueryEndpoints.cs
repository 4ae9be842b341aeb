using System.Diagnostics;
using System.Globalization;

namespace Voron.Documents.Web;

/// <summary>Queries and searches.</summary>
internal sealed class QueryEndpoints(DocumentStore store)
{
    private const int DefaultTake = 20;
    private const int MaxTake = 1000;
    private const int FlushBytes = 64 << 10;

    public void Map(IEndpointRouteBuilder app)
    {
        app.MapGet("/collections/{c}/query", QueryAsync);
        app.MapGet("/collections/{c}/search", SearchAsync);
    }

    private Task QueryAsync(HttpContext context)
    {
        var collection = PathNames.Of(context).In(store);
        var query = Query.Parse(context.Request.Query["q"].ToString());
        query = query.First(query.Take == long.MaxValue ? TakeOf(context.Request) : MaxTake);
        var after = context.Request.Query["after"].ToString();
        var began = Stopwatch.GetTimestamp();
        var result = collection.Find(query, after.Length == 0 ? null : after);
        return WriteAsync(context, result, Stopwatch.GetElapsedTime(began));
    }

    private Task SearchAsync(HttpContext context)
    {
        var collection = PathNames.Of(context).In(store);
        var text = context.Request.Query["q"].ToString();
        if (string.IsNullOrWhiteSpace(text))
            throw new ServerException(StatusCodes.Status400BadRequest, "The words are missing: add ?q= and what is searched for.");
        var began = Stopwatch.GetTimestamp();
        var found = collection.Search(text, TakeOf(context.Request));
        var documents = found.Hits.Select(static hit => hit.Document).ToList();
        var result = new QueryResult { Documents = documents, Next = null, Plan = found.Plan, Examined = found.Matches };
        return WriteAsync(context, result, Stopwatch.GetElapsedTime(began));
    }

    private static int TakeOf(HttpRequest request)
    {
        if (request.Query["take"] is not [{ Length: > 0 } text])
            return DefaultTake;
        return int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var take) && take is > 0 and <= MaxTake
            ? take
            : throw new ServerException(StatusCodes.Status400BadRequest, $"take is '{text}', and must be from 1 to {MaxTake}.");
    }

    // The documents go out as they came in: they are JSON already.
    private static async Task WriteAsync(HttpContext context, QueryResult result, TimeSpan time)
    {
        context.Response.ContentType = "application/json";
        context.Response.Headers.CacheControl = "no-store";
        await using var json = new Utf8JsonWriter(context.Response.BodyWriter);
        json.WriteStartObject();
        json.WriteString("plan", result.Plan);
        json.WriteNumber("examined", result.Examined);
        json.WriteNumber("milliseconds", Math.Round(time.TotalMilliseconds, 2));
        json.WriteString("next", result.Next);
        json.WriteStartArray("documents");
        foreach (var document in result.Documents)
        {
            json.WriteStartObject();
            json.WriteString("id", document.Id);
            json.WriteString("version", $"{document.Version}");
            json.WritePropertyName("document");
            json.WriteRawValue(document.Json.Span, skipInputValidation: true);
            json.WriteEndObject();
            if (json.BytesPending > FlushBytes || context.Response.BodyWriter.UnflushedBytes > FlushBytes)
            {
                await json.FlushAsync(context.RequestAborted);
                await context.Response.BodyWriter.FlushAsync(context.RequestAborted);
            }
        }

        json.WriteEndArray();
        json.WriteEndObject();
    }
}
