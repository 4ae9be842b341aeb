using Microsoft.AspNetCore.WebUtilities;
using Voron.Feeds;
using Voron.Tables;

namespace Voron.Documents.Web;

/// <summary>Answers exceptions, and statuses without a body, as problem details (RFC 9457).</summary>
internal static class Problems
{
    private const string ContentType = "application/problem+json";

    public static async Task AnswerAsync(HttpContext context, RequestDelegate next)
    {
        try
        {
            await next(context);
            if (context.Response is { HasStarted: false, StatusCode: StatusCodes.Status404NotFound or StatusCodes.Status405MethodNotAllowed, ContentType: null })
                await WriteAsync(context, context.Response.StatusCode, $"There is no {context.Request.Method} {context.Request.Path}. The README has a table of all.");
        }
        catch (Exception e) when (context.RequestAborted.IsCancellationRequested)
        {
            LoggerOf(context).LogDebug(e, "A client has gone.");
        }
        catch (Exception e)
        {
            await AnswerAsync(context, e);
        }
    }

    /// <summary>The status that answers an exception.</summary>
    public static int StatusOf(Exception exception) => exception switch
    {
        ServerException e => e.Status,
        AttachmentSourceException { InnerException: BadHttpRequestException e } => e.StatusCode,
        BadHttpRequestException e => e.StatusCode,
        QueryException or DocumentFormatException or ArgumentException or AttachmentSourceException => StatusCodes.Status400BadRequest,
        KeyNotFoundException => StatusCodes.Status404NotFound,
        DocumentConflictException => StatusCodes.Status412PreconditionFailed,
        ChangesLostException => StatusCodes.Status410Gone,
        TableException => StatusCodes.Status409Conflict,
        StorageFullException or EnvironmentPoisonedException or ObjectDisposedException or OperationCanceledException => StatusCodes.Status503ServiceUnavailable,
        _ => StatusCodes.Status500InternalServerError,
    };

    private static async Task AnswerAsync(HttpContext context, Exception e)
    {
        var status = StatusOf(e);
        if (status >= StatusCodes.Status500InternalServerError)
            LoggerOf(context).LogError(e, "{Method} {Path} has failed.", context.Request.Method, context.Request.Path);
        if (context.Response.HasStarted)
        {
            // The client sees that the answer is not complete.
            context.Abort();
            return;
        }

        context.Response.Clear();
        if (e is DocumentConflictException conflict && conflict.Actual != RowVersion.None)
            context.Response.Headers.ETag = EntityTags.Of(conflict.Actual);
        if (status == StatusCodes.Status503ServiceUnavailable)
            context.Response.Headers.RetryAfter = "5";
        await WriteAsync(context, status, DetailOf(e, status));
    }

    private static string DetailOf(Exception e, int status) => e switch
    {
        ObjectDisposedException or OperationCanceledException => "The store is closing.",
        _ when status == StatusCodes.Status500InternalServerError => "The server has failed. Its log has the reason.",
        _ => e.Message,
    };

    private static Task WriteAsync(HttpContext context, int status, string detail)
    {
        context.Response.StatusCode = status;
        var problem = new Problem("about:blank", ReasonPhrases.GetReasonPhrase(status), status, detail);
        return context.Response.WriteAsJsonAsync(problem, ServerContext.Default.Problem, ContentType);
    }

    private static ILogger LoggerOf(HttpContext context) => context.RequestServices.GetRequiredService<ILoggerFactory>().CreateLogger("documents");
}
