using System.Reflection;
using System.Security.Cryptography;

namespace Voron.Documents.Web;

/// <summary>The page for browsers: three files, which the assembly contains.</summary>
internal static class PageEndpoints
{
    private const string Policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    public static void Map(IEndpointRouteBuilder app)
    {
        Map(app, "/", "index.html", "text/html; charset=utf-8");
        Map(app, "/app.css", "app.css", "text/css; charset=utf-8");
        Map(app, "/app.js", "app.js", "text/javascript; charset=utf-8");
        Map(app, "/view.js", "view.js", "text/javascript; charset=utf-8");
        Map(app, "/icon.svg", "icon.svg", "image/svg+xml");
    }

    private static void Map(IEndpointRouteBuilder app, string path, string file, string contentType)
    {
        using var resource = Assembly.GetExecutingAssembly().GetManifestResourceStream(file)!;
        var bytes = new byte[resource.Length];
        resource.ReadExactly(bytes);
        var tag = $"\"{Convert.ToHexString(SHA256.HashData(bytes))[..16]}\"";
        app.MapMethods(path, [HttpMethods.Get, HttpMethods.Head], async context =>
        {
            var headers = context.Response.Headers;
            headers.ContentSecurityPolicy = Policy;
            headers.XContentTypeOptions = "nosniff";
            headers["Referrer-Policy"] = "no-referrer";
            headers.CacheControl = "no-cache";
            headers.ETag = tag;
            if (EntityTags.IsKnown(context.Request, tag))
            {
                context.Response.StatusCode = StatusCodes.Status304NotModified;
                return;
            }

            context.Response.ContentType = contentType;
            context.Response.ContentLength = bytes.Length;
            await context.Response.Body.WriteAsync(bytes, context.RequestAborted);
        });
    }
}
