using Voron.Tables;

namespace Voron.Documents.Web;

/// <summary>Collections, their indexes and their sizes.</summary>
internal sealed class CollectionEndpoints(DocumentStore store)
{
    public void Map(IEndpointRouteBuilder app)
    {
        app.MapGet("/stats", StatsAsync);
        app.MapGet("/collections", context =>
            context.Response.WriteAsJsonAsync(new CollectionsAnswer(Describe()), ServerContext.Default.CollectionsAnswer));
        app.MapGet("/collections/{c}", GetAsync);
        app.MapPut("/collections/{c}", CreateAsync);
        app.MapDelete("/collections/{c}", DeleteAsync);
        app.MapPut("/collections/{c}/expiry", context => SetExpiryAsync(context, PathOf(context)));
        app.MapDelete("/collections/{c}/expiry", context => SetExpiryAsync(context, null));
        app.MapPut("/collections/{c}/indexes", context => ChangeIndexAsync(
            context, (name, path) => store.AddIndexAsync(name, path, cancellationToken: context.RequestAborted)));
        app.MapDelete("/collections/{c}/indexes", context => ChangeIndexAsync(
            context, (name, path) => store.DropIndexAsync(name, path, context.RequestAborted)));
        app.MapPut("/collections/{c}/text", ChangeTextAsync);
    }

    private async Task SetExpiryAsync(HttpContext context, string? path)
    {
        await store.SetExpiryAsync(PathNames.Of(context).In(store).Settings.Name, path, context.RequestAborted);
        await GetAsync(context);
    }

    // The paths of the text fields, in the order given; none to search no more.
    private async Task ChangeTextAsync(HttpContext context)
    {
        var paths = context.Request.Query["path"].OfType<string>().ToList();
        await store.SetTextIndexAsync(PathNames.Of(context).In(store).Settings.Name, paths, cancellationToken: context.RequestAborted);
        await GetAsync(context);
    }

    private Task StatsAsync(HttpContext context)
    {
        var statistics = store.Environment.GetStatistics();
        var answer = new StatsAnswer(
            statistics.DataFileBytes, statistics.LiveJournalBytes, statistics.CommittedTransactions, statistics.OpenReaders, Describe());
        return context.Response.WriteAsJsonAsync(answer, ServerContext.Default.StatsAnswer);
    }

    private Task GetAsync(HttpContext context)
    {
        var name = PathNames.Of(context).CollectionName;
        _ = PathNames.Of(context).In(store);
        var answer = Describe().FirstOrDefault(collection => collection.Name == name) ?? throw new KeyNotFoundException($"There is no collection '{name}'.");
        return context.Response.WriteAsJsonAsync(answer, ServerContext.Default.CollectionAnswer);
    }

    private async Task CreateAsync(HttpContext context)
    {
        var name = PathNames.Of(context).CollectionName;
        var isNew = store.GetCollections().All(collection => collection.Name != name);
        await store.CreateCollectionAsync(name, context.RequestAborted);
        context.Response.StatusCode = isNew ? StatusCodes.Status201Created : StatusCodes.Status204NoContent;
    }

    private async Task DeleteAsync(HttpContext context)
    {
        var name = PathNames.Of(context).CollectionName;

        // What has begun ends, even if the client goes.
        if (!await store.DropCollectionAsync(name, CancellationToken.None))
            throw new KeyNotFoundException($"There is no collection '{name}'.");
        context.Response.StatusCode = StatusCodes.Status204NoContent;
    }

    private async Task ChangeIndexAsync(HttpContext context, Func<string, string, ValueTask<Collection>> change)
    {
        await change(PathNames.Of(context).In(store).Settings.Name, PathOf(context));
        await GetAsync(context);
    }

    private static string PathOf(HttpContext context) => context.Request.Query["path"] is [{ Length: > 0 } path]
        ? path
        : throw new ServerException(StatusCodes.Status400BadRequest, "The path is missing: add ?path= and a path such as $.section.");

    private List<CollectionAnswer> Describe()
    {
        var pageSize = store.Environment.GetStatistics().PageSize;
        var tables = store.Environment.GetTables().ToDictionary(table => table.Name);
        var answers = new List<CollectionAnswer>();
        foreach (var settings in store.GetCollections())
        {
            // A collection that is just being created or deleted has no table.
            if (!tables.TryGetValue(settings.Name, out var table))
                continue;
            var indexes = table.Indexes.Where(index => index.Name.StartsWith('$'))
                .Select(index => new IndexAnswer(index.Name, index.State.ToString(), index.Keys, index.Pages * pageSize)).ToList();
            answers.Add(new CollectionAnswer(settings.Name, table.Rows, table.RowPages * pageSize, indexes, settings.ExpiryPath, settings.Text?.Fields ?? []));
        }

        return answers;
    }
}
