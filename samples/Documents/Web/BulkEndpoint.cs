namespace Voron.Documents.Web;

/// <summary>Stores many documents, one in each line. A line that is no document is refused, and named in the answer; the others are stored.</summary>
internal sealed class BulkEndpoint(DocumentStore store, ServerOptions options)
{
    private const int DocumentsPerCommit = 500;
    private const int BytesPerCommit = 4 << 20;
    private const int MaxNamed = 100;

    private static readonly string[] ContentTypes = ["application/x-ndjson", "application/jsonl", "application/json"];

    public void Map(IEndpointRouteBuilder app) => app.MapPost("/collections/{c}/documents", PostAsync);

    private async Task PostAsync(HttpContext context)
    {
        var collection = PathNames.Of(context).In(store);
        var type = context.Request.ContentType?.Split(';')[0].Trim();
        if (!ContentTypes.Contains(type, StringComparer.OrdinalIgnoreCase))
        {
            throw new ServerException(
                StatusCodes.Status415UnsupportedMediaType, $"The content type is '{type}', and must be {string.Join(" or ", ContentTypes)}: one object in each line.");
        }

        context.Features.GetRequiredFeature<IHttpMaxRequestBodySizeFeature>().MaxRequestBodySize = options.MaxUploadBytes;
        var answer = await StoreAsync(collection, new LineReader(context.Request.Body, options.MaxDocumentBytes), context.RequestAborted);
        await context.Response.WriteAsJsonAsync(answer, ServerContext.Default.BulkAnswer);
    }

    // In transactions of some hundred documents: if the client goes or the disk is full, those before are stored.
    private async Task<BulkAnswer> StoreAsync(Collection collection, LineReader lines, CancellationToken cancellation)
    {
        var batch = collection.CreateBatch();
        var named = new List<RefusedLine>();
        var (stored, refused, bytes) = (0L, 0L, 0);
        while (await lines.ReadAsync(cancellation) is { } line)
        {
            if (line.IsBlank)
                continue;
            if (Refuse(line, batch) is { } reason)
            {
                refused++;
                if (named.Count < MaxNamed)
                    named.Add(new RefusedLine(line.Number, reason));
                continue;
            }

            bytes += line.Bytes.Length;
            if (batch.Count < DocumentsPerCommit && bytes < BytesPerCommit)
                continue;
            await collection.PutManyAsync(batch, cancellation);
            stored += batch.Count;
            batch.Clear();
            bytes = 0;
        }

        if (batch.Count > 0)
            await collection.PutManyAsync(batch, cancellation);
        return new BulkAnswer(stored + batch.Count, refused, named);
    }

    private string? Refuse(Line line, DocumentBatch batch)
    {
        if (line.FaultOf(options.MaxDocumentBytes) is { } fault)
            return fault;
        try
        {
            batch.Add(line.Bytes);
            return null;
        }
        catch (DocumentFormatException e)
        {
            return e.Message;
        }
    }
}
