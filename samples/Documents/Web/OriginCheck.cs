using System.Net;

namespace Voron.Documents.Web;

/// <summary>Refuses what pages of other sites make a browser send to a server on the same machine.</summary>
internal static class OriginCheck
{
    public static Task CheckAsync(HttpContext context, RequestDelegate next)
    {
        var request = context.Request;
        if (context.Connection.LocalIpAddress is { } address && IPAddress.IsLoopback(address) && !IsLoopback(request.Host.Host))
        {
            throw new ServerException(
                StatusCodes.Status421MisdirectedRequest, $"The server is on this machine alone, and the request is for '{request.Host.Host}'. Use localhost.");
        }

        var isRead = HttpMethods.IsGet(request.Method) || HttpMethods.IsHead(request.Method);
        if (!isRead && request.Headers["Sec-Fetch-Site"].ToString() is not ("" or "same-origin" or "none"))
            throw new ServerException(StatusCodes.Status403Forbidden, "A page of another site must not write.");
        return next(context);
    }

    private static bool IsLoopback(string host) =>
        host.Equals("localhost", StringComparison.OrdinalIgnoreCase) || (IPAddress.TryParse(host, out var address) && IPAddress.IsLoopback(address));
}
