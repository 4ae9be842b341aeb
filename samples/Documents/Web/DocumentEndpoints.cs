using System.Text.Unicode;

namespace Voron.Documents.Web;

/// <summary>Single documents. The entity tag is the version.</summary>
internal sealed class DocumentEndpoints(DocumentStore store, ServerOptions options)
{
    private const string Path = "/collections/{c}/documents/{id}";

    public void Map(IEndpointRouteBuilder app)
    {
        app.MapMethods(Path, [HttpMethods.Get, HttpMethods.Head], GetAsync);
        app.MapPut(Path, PutAsync);
        app.MapDelete(Path, DeleteAsync);
    }

    private async Task GetAsync(HttpContext context)
    {
        var names = PathNames.Of(context);
        if (!names.In(store).TryGet(names.Id, out var document))
            throw Missing(names);
        var tag = EntityTags.Of(document.Version);
        context.Response.Headers.ETag = tag;
        context.Response.Headers.CacheControl = "no-cache";
        if (EntityTags.IsKnown(context.Request, tag))
        {
            context.Response.StatusCode = StatusCodes.Status304NotModified;
            return;
        }

        context.Response.Headers.XContentTypeOptions = "nosniff";
        context.Response.ContentType = "application/json";
        context.Response.ContentLength = document.Json.Length;
        await context.Response.Body.WriteAsync(document.Json, context.RequestAborted);
    }

    private async Task PutAsync(HttpContext context)
    {
        var names = PathNames.Of(context);
        var collection = names.In(store);
        var expected = EntityTags.Expected(context.Request, () => collection.TryGet(names.Id, out _));
        var json = await ReadAsync(context.Request);
        var stored = await collection.PutAsync(json, names.Id, expected, context.RequestAborted);
        context.Response.Headers.ETag = EntityTags.Of(stored.Version);
        if (!stored.IsNew)
        {
            context.Response.StatusCode = StatusCodes.Status204NoContent;
            return;
        }

        context.Response.StatusCode = StatusCodes.Status201Created;
        context.Response.Headers.Location = $"/collections/{Uri.EscapeDataString(names.CollectionName)}/documents/{Uri.EscapeDataString(stored.Id)}";
        await context.Response.WriteAsJsonAsync(new StoredAnswer(stored.Id, $"{stored.Version}"), ServerContext.Default.StoredAnswer);
    }

    private async Task DeleteAsync(HttpContext context)
    {
        var names = PathNames.Of(context);
        var collection = names.In(store);
        var expected = EntityTags.Expected(context.Request, () => collection.TryGet(names.Id, out _));
        if (!await collection.DeleteAsync(names.Id, expected, context.RequestAborted))
            throw Missing(names);
        context.Response.StatusCode = StatusCodes.Status204NoContent;
    }

    // The server refuses a body that is longer than a document may be, before it has read it all.
    private async Task<byte[]> ReadAsync(HttpRequest request)
    {
        using var body = new MemoryStream((int)Math.Min(request.ContentLength ?? 1024, options.MaxDocumentBytes));
        await request.Body.CopyToAsync(body, request.HttpContext.RequestAborted);
        var json = body.ToArray();
        return Utf8.IsValid(json) ? json : throw new ServerException(StatusCodes.Status400BadRequest, "The document is not valid UTF-8.");
    }

    private static KeyNotFoundException Missing(PathNames names) => new($"There is no document '{names.Id}' in the collection '{names.CollectionName}'.");
}
