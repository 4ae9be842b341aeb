using System.Text;

namespace Voron.Documents.Tests;

/// <summary>Batches store all of their documents or none, and collections take new shapes while they are written.</summary>
public sealed class BatchTests : IDisposable
{
    private readonly DocumentStore _store = DocumentStore.OpenInMemory();

    public void Dispose() => _store.Dispose();

    [Fact]
    public async Task A_refused_document_leaves_a_batch_as_it_was()
    {
        var collection = await NewCollectionAsync();
        var batch = collection.CreateBatch();
        batch.Add(Bytes("""{"n":1,"t":"one word"}"""), "a").Should().Be("a");
        foreach (var bad in new[] { """{"n":2,"t":"two words" """, "[1]", """{"n":3,"t":"three"}""", """{"id":"b","n":4,"t":"four"} 5""" })
            FluentActions.Invoking(() => batch.Add(Bytes(bad))).Should().Throw<DocumentFormatException>();
        batch.Add(Bytes("""{"id":"c","n":5,"t":"five words"}"""));
        batch.Count.Should().Be(2);
        collection.PutMany(batch);
        collection.Count.Should().Be(2);
        Ids(collection.Find(Query.Parse("n > 0"))).Should().Equal("a", "c");
        collection.Search("two or three or four").Matches.Should().Be(0);
        collection.Search("words").Hits.Single().Document.Id.Should().Be("c");
        batch.Clear();
        collection.PutMany(batch);
        collection.Count.Should().Be(2);
    }

    [Fact]
    public async Task Of_documents_with_the_same_id_the_last_one_counts()
    {
        var collection = await NewCollectionAsync();
        collection.Put(Bytes("""{"n":0,"t":"zero"}"""), "a");
        var batch = collection.CreateBatch();
        batch.Add(Bytes("""{"n":1,"t":"one"}"""), "a");
        batch.Add(Bytes("""{"n":2,"t":"two"}"""), "b");
        batch.Add(Bytes("""{"n":3,"t":"three"}"""), "a");
        batch.Add(Bytes("""{"n":4,"t":"four"}"""), "b");
        collection.PutMany(batch);
        collection.Count.Should().Be(2);
        Ids(collection.Find(Query.Parse("n >= 0"))).Should().Equal("a", "b");
        collection.Find(Query.Parse("n < 3")).Documents.Should().BeEmpty();
        collection.Search("zero or one or two").Matches.Should().Be(0);
        collection.Search("three").Hits.Single().Document.Id.Should().Be("a");
        collection.Search("four").Hits.Single().Document.Id.Should().Be("b");
    }

    [Fact]
    public async Task A_batch_that_was_filled_before_an_index_was_made_has_its_keys()
    {
        var collection = await NewCollectionAsync();
        var batch = collection.CreateBatch();
        batch.Add(Bytes("""{"m":1,"u":"other text"}"""), "a");
        await _store.AddIndexAsync("items", "m", cancellationToken: TestContext.Current.CancellationToken);
        await _store.SetTextIndexAsync("items", ["u"], cancellationToken: TestContext.Current.CancellationToken);
        collection.PutMany(batch);
        var found = collection.Find(Query.Parse("m = 1"));
        Ids(found).Should().Equal("a");
        found.Plan.Should().StartWith("index $.m");
        collection.Search("other").Matches.Should().Be(1);
    }

    [Fact]
    public async Task Half_of_a_surrogate_pair_is_kept_and_found_as_it_is_written()
    {
        var collection = await NewCollectionAsync();
        collection.Put(Bytes("""{"id":"a","n":"x\ud800","t":"word \ud800 more"}"""));
        Ids(collection.Find(Query.Parse("n starts with 'x'"))).Should().Equal("a");
        collection.Search("more").Matches.Should().Be(1);
    }

    [Fact]
    public async Task Documents_are_written_and_found_while_indexes_come_and_go()
    {
        var collection = await NewCollectionAsync();
        using var stop = new CancellationTokenSource();
        var written = 0;
        var writers = Enumerable.Range(0, 3).Select(writer => Task.Run(() =>
        {
            var count = 0;
            while (!stop.IsCancellationRequested)
            {
                Interlocked.Increment(ref written);
                var id = $"{writer}-{count++ % 200}";
                collection.Put(Bytes($$"""{"n":{{count}},"m":{{count % 7}},"t":"word{{count % 5}} all"}"""), id);
                if (count % 3 == 0)
                    collection.Delete(id);
                collection.Find(Query.Parse("m = 3 take 5")).Documents.Should().NotContainNulls();
            }

            return count;
        })).ToList();
        for (var i = 0; i < 5; i++)
        {
            var before = Volatile.Read(ref written);
            while (Volatile.Read(ref written) < before + 50 && !writers.Exists(writer => writer.IsCompleted))
                await Task.Delay(1, TestContext.Current.CancellationToken);
            await _store.AddIndexAsync("items", "m", cancellationToken: TestContext.Current.CancellationToken);
            await _store.SetTextIndexAsync("items", i % 2 == 0 ? [] : ["t"], cancellationToken: TestContext.Current.CancellationToken);
            await _store.DropIndexAsync("items", "m", TestContext.Current.CancellationToken);
        }

        await stop.CancelAsync();
        (await Task.WhenAll(writers)).Should().OnlyContain(count => count > 0);
        await _store.SetTextIndexAsync("items", ["t"], cancellationToken: TestContext.Current.CancellationToken);
        await _store.AddIndexAsync("items", "m", cancellationToken: TestContext.Current.CancellationToken);
        collection.Search("all", 1).Matches.Should().Be(collection.Count);
        collection.Find(Query.Parse("m >= 0")).Documents.Should().HaveCount((int)collection.Count);
        _store.Environment.Verify().Problems.Should().BeEmpty();
    }

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static IEnumerable<string> Ids(QueryResult result) => result.Documents.Select(document => document.Id).Order(StringComparer.Ordinal);

    private async Task<Collection> NewCollectionAsync()
    {
        await _store.CreateCollectionAsync("items", TestContext.Current.CancellationToken);
        await _store.AddIndexAsync("items", "n", cancellationToken: TestContext.Current.CancellationToken);
        return await _store.SetTextIndexAsync("items", ["t"], cancellationToken: TestContext.Current.CancellationToken);
    }
}
