using Microsoft.Net.Http.Headers;

namespace Voron.Documents.Web;

/// <summary>The files of documents.</summary>
internal sealed class AttachmentEndpoints(DocumentStore store, ServerOptions options)
{
    private const string ListPath = "/collections/{c}/documents/{id}/attachments";
    private const string Path = ListPath + "/{name}";

    public void Map(IEndpointRouteBuilder app)
    {
        app.MapGet(ListPath, ListAsync);
        app.MapMethods(Path, [HttpMethods.Get, HttpMethods.Head], GetAsync);
        app.MapPut(Path, PutAsync);
        app.MapDelete(Path, DeleteAsync);
    }

    private Task ListAsync(HttpContext context)
    {
        var names = PathNames.Of(context);
        var collection = names.In(store);
        if (!collection.TryGet(names.Id, out _))
            throw new KeyNotFoundException($"There is no document '{names.Id}' in the collection '{names.CollectionName}'.");
        var answer = new AttachmentsAnswer([.. collection.GetAttachments(names.Id).Select(ToAnswer)]);
        return context.Response.WriteAsJsonAsync(answer, ServerContext.Default.AttachmentsAnswer);
    }

    // To be saved, not shown: a file that a stranger has attached must not run scripts as a page of this server.
    private async Task GetAsync(HttpContext context)
    {
        var names = PathNames.Of(context);
        using var content = names.In(store).OpenAttachment(names.Id, names.Attachment) ?? throw Missing(names);
        var attachment = content.Attachment;
        context.Response.Headers.XContentTypeOptions = "nosniff";
        context.Response.Headers.ContentSecurityPolicy = "default-src 'none'; sandbox";
        context.Response.Headers.CacheControl = "no-cache";
        var tag = new EntityTagHeaderValue($"\"{attachment.Version}\"");
        var result = TypedResults.Stream(
            content.Stream, attachment.ContentType, attachment.Name, attachment.StoredAt, tag, enableRangeProcessing: true);
        await result.ExecuteAsync(context);
    }

    private async Task PutAsync(HttpContext context)
    {
        var names = PathNames.Of(context);
        context.Features.GetRequiredFeature<IHttpMaxRequestBodySizeFeature>().MaxRequestBodySize = options.MaxUploadBytes;
        var attachment = await names.In(store)
            .PutAttachmentAsync(names.Id, names.Attachment, context.Request.Body, context.Request.ContentType, context.RequestAborted);
        context.Response.StatusCode = StatusCodes.Status201Created;
        await context.Response.WriteAsJsonAsync(ToAnswer(attachment), ServerContext.Default.AttachmentAnswer);
    }

    private async Task DeleteAsync(HttpContext context)
    {
        var names = PathNames.Of(context);
        if (!await names.In(store).DeleteAttachmentAsync(names.Id, names.Attachment, context.RequestAborted))
            throw Missing(names);
        context.Response.StatusCode = StatusCodes.Status204NoContent;
    }

    private static AttachmentAnswer ToAnswer(Attachment attachment) => new(attachment.Name, attachment.ContentType, attachment.Length, attachment.StoredAt);

    private static KeyNotFoundException Missing(PathNames names) =>
        new($"Document '{names.Id}' of the collection '{names.CollectionName}' has no attachment '{names.Attachment}', or does not exist.");
}
