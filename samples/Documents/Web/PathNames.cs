namespace Voron.Documents.Web;

/// <summary>The names in the path of a request.</summary>
/// <remarks>
/// They come from the path as the client has sent it: the decoded one does not tell a slash in a name from one between two names, and neither <c>%2F</c>
/// from the text <c>%2F</c>.
/// </remarks>
internal readonly struct PathNames
{
    private readonly string[] _parts;

    private PathNames(string[] parts) => _parts = parts;

    public string CollectionName => _parts[2];

    public string Id => _parts[4];

    public string Attachment => _parts[6];

    /// <summary>Returns the collection.</summary>
    /// <exception cref="ServerException">There is none of that name.</exception>
    public Collection In(DocumentStore store)
    {
        try
        {
            return store.GetCollection(CollectionName);
        }
        catch (KeyNotFoundException)
        {
            throw new ServerException(
                StatusCodes.Status404NotFound, $"There is no collection '{CollectionName}'. PUT /collections/{Uri.EscapeDataString(CollectionName)} creates it.");
        }
    }

    /// <exception cref="ServerException">The path has been normalized: it has a part of one or two periods.</exception>
    public static PathNames Of(HttpContext context)
    {
        var target = context.Features.GetRequiredFeature<IHttpRequestFeature>().RawTarget;
        if (target.IndexOf("://", StringComparison.Ordinal) is var scheme and > 0 && target[0] != '/')
            target = target.IndexOf('/', scheme + 3) is var path and > 0 ? target[path..] : "/";
        if (target.IndexOf('?', StringComparison.Ordinal) is var query and >= 0)
            target = target[..query];
        var parts = target.Split('/');
        if (parts.Length != context.Request.Path.Value!.Split('/').Length)
        {
            throw new ServerException(
                StatusCodes.Status400BadRequest, "A name in the path is '.' or '..': clients and servers remove such parts. The command line can use such ids.");
        }

        for (var i = 0; i < parts.Length; i++)
            parts[i] = Uri.UnescapeDataString(parts[i]);
        return new PathNames(parts);
    }
}
