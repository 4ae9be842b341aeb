using System.Text;
using Voron;

namespace WebService;

/// <summary>Content of any size. An upload holds no transaction, however slow its client is; a download reads one snapshot to its end.</summary>
internal static class Files
{
    public static async Task<IResult> PutAsync(string name, HttpRequest request, StorageEnvironment environment, CancellationToken cancellation)
    {
        using var content = await environment.StageAsync(request.Body, cancellation);
        await environment.WriteAsync(
            (Name: Encoding.UTF8.GetBytes(name), content), static (writing, file) => writing.OpenTree("files").Put(file.Name, file.content), cancellation);
        return Results.Created($"/files/{Uri.EscapeDataString(name)}", null);
    }

    public static IResult Get(string name, HttpResponse response, StorageEnvironment environment)
    {
        var reading = environment.BeginRead();

        // After the stream, when the response has been sent.
        response.RegisterForDispose(reading);
        return reading.OpenTree("files").TryOpenStream(Encoding.UTF8.GetBytes(name), out var stream)
            ? Results.Stream(stream, "application/octet-stream", enableRangeProcessing: true)
            : Results.NotFound();
    }
}
