namespace WebService;

internal static class Bodies
{
    /// <summary>Reads a body; returns null if it is too long.</summary>
    public static async Task<byte[]?> ReadAsync(HttpRequest request, int mostBytes, CancellationToken cancellation)
    {
        if (request.ContentLength > mostBytes)
            return null;
        var body = new MemoryStream();
        var buffer = new byte[4096];
        for (int read; (read = await request.Body.ReadAsync(buffer, cancellation)) > 0;)
        {
            body.Write(buffer, 0, read);
            if (body.Length > mostBytes)
                return null;
        }

        return body.ToArray();
    }
}
