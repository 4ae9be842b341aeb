// Notes and files over HTTP.
//
//   PUT, GET, DELETE /notes/{id}     a short text; many requests share one write to the device
//   GET /notes?after=ID              100 names at a time
//   PUT, GET /files/{name}           content of any size
//   GET /statistics                  what the environment counts
//   GET /health                      what a load balancer asks
//
// The directory is the setting "Voron:Directory": appsettings.json, the variable Voron__Directory, or --Voron:Directory.
using System.Text;
using Voron;
using WebService;

var builder = WebApplication.CreateSlimBuilder(args);
builder.Services.AddVoron(configureOptions: options =>
{
    options.Trees.Add("notes");
    options.Trees.Add("files");
});

// A request that is under way when the host stops gets an answer; the environment closes behind the last of them.
builder.Services.Configure<HostOptions>(options => options.ShutdownTimeout = TimeSpan.FromSeconds(20));
var app = builder.Build();

app.MapGet("/notes/{id}", (string id, StorageEnvironment environment) =>
{
    using var reading = environment.BeginRead();
    return reading.OpenTree("notes").Get(Encoding.UTF8.GetBytes(id)) is { } note ? Results.Bytes(note, "text/plain; charset=utf-8") : Results.NotFound();
});

app.MapPut("/notes/{id}", async (string id, HttpRequest request, StorageEnvironment environment, CancellationToken cancellation) =>
{
    // The body comes first, at the pace of the client: an operation holds the only writer.
    if (await Bodies.ReadAsync(request, mostBytes: 64 << 10, cancellation) is not { } note)
        return Results.StatusCode(StatusCodes.Status413PayloadTooLarge);
    var isNew = await environment.WriteAsync(
        (Id: Encoding.UTF8.GetBytes(id), note), static (writing, put) => writing.OpenTree("notes").Exchange(put.Id, put.note) is null, cancellation);
    return isNew ? Results.Created($"/notes/{Uri.EscapeDataString(id)}", null) : Results.NoContent();
});

app.MapDelete("/notes/{id}", async (string id, StorageEnvironment environment, CancellationToken cancellation) =>
    await environment.WriteAsync(Encoding.UTF8.GetBytes(id), static (writing, key) => writing.OpenTree("notes").Delete(key), cancellation)
        ? Results.NoContent()
        : Results.NotFound());

app.MapGet("/notes", (string? after, StorageEnvironment environment) =>
{
    var names = new StringBuilder();
    using var reading = environment.BeginRead();
    var range = after == null ? KeyRange.All : KeyRange.After(Encoding.UTF8.GetBytes(after));
    foreach (var entry in reading.OpenTree("notes").Range(range).Take(100))
        names.Append(Encoding.UTF8.GetString(entry.Key)).Append('\n');
    return Results.Text(names.ToString());
});

app.MapPut("/files/{name}", Files.PutAsync);
app.MapGet("/files/{name}", Files.Get);

app.MapGet("/statistics", (StorageEnvironment environment) =>
{
    var statistics = environment.GetStatistics();
    return Results.Text($"commits {statistics.CommittedTransactions}\ndata file {statistics.DataFileBytes}\njournal {statistics.LiveJournalBytes}\n");
});

app.MapHealthChecks("/health");
await app.RunAsync();
