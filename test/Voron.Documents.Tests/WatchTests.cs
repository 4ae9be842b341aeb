using System.Text;

namespace Voron.Documents.Tests;

/// <summary>A watch has all changes of documents in their order, each as it was committed.</summary>
[Quick]
public sealed class WatchTests : IDisposable
{
    private readonly DocumentStore _store = DocumentStore.OpenInMemory();
    private readonly CancellationToken _stop = TestContext.Current.CancellationToken;

    public void Dispose() => _store.Dispose();

    [Fact]
    public async Task Changes_come_in_their_order_with_versions()
    {
        var collection = await CreateAsync();
        collection.Put(Json("before", 0));
        await using var watch = Begin(collection);
        var first = await collection.PutAsync(Json("a", 1), cancellationToken: _stop);
        var second = await collection.PutAsync(Json("a", 2), cancellationToken: _stop);
        collection.Delete("a");
        var changes = new[] { await NextAsync(watch), await NextAsync(watch), await NextAsync(watch) };
        changes.Select(Text).Should().Equal("Put a 1", "Put a 2", "Delete a");
        changes.Select(change => change.Version).Should().Equal(first.Version, second.Version, default);
        changes[0].Document!.Value.Version.Should().Be(first.Version);

        await using var rest = Begin(collection, new WatchOptions { After = changes[0].Position });
        Text(await NextAsync(rest)).Should().Be("Put a 2");
        await using var all = Begin(collection, new WatchOptions { FromStart = true });
        Text(await NextAsync(all)).Should().Be("Put a 1", "the feed begins with the first watch");
    }

    [Fact]
    public async Task A_condition_is_checked_before_and_after_a_change()
    {
        var collection = await CreateAsync();
        await using var watch = Begin(collection, new WatchOptions { Query = Query.Parse("n >= 5") });
        foreach (var (id, n) in new[] { ("a", 1), ("a", 5), ("b", 7), ("a", 2), ("a", 3) })
            collection.Put(Json(id, n));
        collection.Delete("a");
        collection.Delete("b");
        var changes = new List<DocumentChange>();
        for (var i = 0; i < 4; i++)
            changes.Add(await NextAsync(watch));
        changes.Select(change => $"{Text(change)} {change.IsMatch}").Should()
            .Equal("Put a 5 True", "Put b 7 True", "Put a 2 False", "Delete b False");
    }

    [Fact]
    public async Task A_named_consumer_continues_where_it_was()
    {
        var collection = await CreateAsync();
        var options = new WatchOptions { Consumer = "mirror" };
        var watch = Begin(collection, options);
        collection.Put(Json("a", 1));
        await NextAsync(watch);
        collection.Put(Json("b", 2));
        await NextAsync(watch);
        await watch.DisposeAsync();

        collection.Put(Json("c", 3));
        var again = Begin(collection, options);
        Text(await NextAsync(again)).Should().Be("Put b 2", "it had not come back for the next one");
        Text(await NextAsync(again)).Should().Be("Put c 3");
        await again.DisposeAsync();
        collection.ForgetConsumer("mirror").Should().BeTrue();
        collection.ForgetConsumer("mirror").Should().BeFalse();
        (await CreateAsync("unwatched")).ForgetConsumer("mirror").Should().BeFalse();
    }

    [Fact]
    public async Task A_watch_continues_when_an_index_is_added()
    {
        var collection = await CreateAsync();
        await using var watch = Begin(collection);
        await _store.AddIndexAsync("items", "n", cancellationToken: _stop);
        collection.Put(Json("a", 1));
        Text(await NextAsync(watch)).Should().Be("Put a 1");
    }

    [Fact]
    public async Task A_watch_ends_with_its_collection()
    {
        var collection = await CreateAsync();
        await using var watch = Begin(collection);
        var next = watch.MoveNextAsync().AsTask();
        await _store.DropCollectionAsync("items", _stop);
        (await next.WaitAsync(TestWait.Limit, _stop)).Should().BeFalse();
        await FluentActions.Awaiting(async () => await NextAsync(Begin(collection))).Should().ThrowAsync<KeyNotFoundException>();

        var created = await CreateAsync();
        await using var second = Begin(created, new WatchOptions { FromStart = true });
        created.Put(Json("new", 1));
        Text(await NextAsync(second)).Should().Be("Put new 1", "nothing of the old collection is left");
    }

    [Fact]
    public async Task A_watch_ends_with_an_exception_when_the_store_is_closed_or_the_call_cancelled()
    {
        var collection = await CreateAsync();
        using var cancel = new CancellationTokenSource();
        await using var cancelled = collection.WatchAsync(cancellationToken: cancel.Token).GetAsyncEnumerator(cancel.Token);
        var pending = cancelled.MoveNextAsync().AsTask();
        await cancel.CancelAsync();
        await FluentActions.Awaiting(() => pending).Should().ThrowAsync<OperationCanceledException>();

        await using var closed = Begin(collection);
        var next = closed.MoveNextAsync().AsTask();
        _store.Dispose();
        await FluentActions.Awaiting(() => next).Should().ThrowAsync<ObjectDisposedException>();
    }

    [Fact]
    public async Task A_document_that_is_too_long_for_the_feed_comes_without_its_content()
    {
        var collection = await CreateAsync();
        await using var watch = Begin(collection, new WatchOptions { Query = Query.Parse("n = 1") });
        collection.Put(Encoding.UTF8.GetBytes($$"""{"id":"long","text":"{{new string('x', Collection.MaxWatchedBytes)}}"}"""));
        (await NextAsync(watch)).Should().BeEquivalentTo(new { Kind = DocumentChangeKind.Put, Id = "long", Document = (Document?)null, IsMatch = true });
        collection.Delete("long");
        (await NextAsync(watch)).Should().BeEquivalentTo(new { Kind = DocumentChangeKind.Delete, Id = (string?)null });
    }

    private async Task<Collection> CreateAsync(string name = "items") => await _store.CreateCollectionAsync(name, _stop);

    // The watch has begun when this returns.
    private IAsyncEnumerator<DocumentChange> Begin(Collection collection, WatchOptions? options = null) =>
        collection.WatchAsync(options, _stop).GetAsyncEnumerator(_stop);

    private static async Task<DocumentChange> NextAsync(IAsyncEnumerator<DocumentChange> watch)
    {
        (await watch.MoveNextAsync().AsTask().WaitAsync(TestWait.Limit)).Should().BeTrue();
        return watch.Current;
    }

    private static string Text(DocumentChange change) =>
        $"{change.Kind} {change.Id}{(change.Document is { } document ? $" {System.Text.Json.JsonDocument.Parse(document.Json).RootElement.GetProperty("n")}" : "")}";

    private static ReadOnlyMemory<byte> Json(string id, int n) => Encoding.UTF8.GetBytes($$"""{"id":"{{id}}","n":{{n}}}""");
}
