using System.Text;
using System.Text.Json;
using Voron.Documents.Scanning;

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
    public void Words_come_in_the_order_of_their_bytes()
    {
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        var counts = new WordCounts();
        for (var round = 0; round < 20; round++)
        {
            // Many begin with the same bytes, and are shorter, as long or longer than the eight that are compared first.
            string[] words = [.. Enumerable.Range(0, random.Next(3000)).Select(_ => new string(
                [.. Enumerable.Range(0, random.Next(1, 12)).Select(place => place < 7 ? "ab"[random.Next(40) / 39] : "abz\u00E4"[random.Next(4)])]))];
            foreach (var part in words.Chunk(1 + words.Length / 2))
            {
                Count(counts, part);
                Read(counts).Should().BeInAscendingOrder(StringComparer.Ordinal, $"of seed {seed}").And.OnlyHaveUniqueItems();
            }

            Read(counts).Should().Equal(words.Select(word => word.Replace('\u00E4', 'a')).Distinct().Order(StringComparer.Ordinal));
            counts.Clear();
            counts.InOrder().ToArray().Should().BeEmpty();
        }
    }

    [Fact]
    public async Task Batches_that_follow_each_other_at_once_are_stored_in_their_order()
    {
        var collection = await NewCollectionAsync();
        var batches = Enumerable.Range(0, 50).Select(number =>
        {
            var batch = collection.CreateBatch();
            foreach (var id in new[] { "a", "b", $"c{number}" })
                batch.Add(Bytes($$"""{"n":{{number}},"t":"number{{number}}"}"""), id);
            return batch;
        }).ToArray();
        await Task.WhenAll(batches.Select(batch => collection.PutManyAsync(batch).AsTask()));
        Ids(collection.Find(Query.Parse("n = 49"))).Should().Equal("a", "b", "c49");
        collection.Search("number48").Hits.Single().Document.Id.Should().Be("c48");
        collection.Count.Should().Be(52);
    }

    [Fact]
    public async Task A_batch_that_is_cancelled_while_it_waits_stores_nothing()
    {
        var collection = await NewCollectionAsync();
        var batch = collection.CreateBatch();
        batch.Add(Bytes("""{"n":1,"t":"one"}"""), "a");
        using var stop = new CancellationTokenSource();
        Task put;
        using (_store.Environment.BeginWrite())
        {
            put = collection.PutManyAsync(batch, stop.Token).AsTask();
            await stop.CancelAsync();
            await FluentActions.Awaiting(() => put).Should().ThrowAsync<OperationCanceledException>();
        }

        collection.Count.Should().Be(0);
        await collection.PutManyAsync(batch, CancellationToken.None);
        collection.Count.Should().Be(1);
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
            do
            {
                Interlocked.Increment(ref written);
                var id = $"{writer}-{count++ % 200}";
                collection.Put(Bytes($$"""{"n":{{count}},"m":{{count % 7}},"t":"word{{count % 5}} all"}"""), id);
                if (count % 3 == 0)
                    collection.Delete(id);
                collection.Find(Query.Parse("m = 3 take 5")).Documents.Should().NotContainNulls();
            }
            while (!stop.IsCancellationRequested);
        })).ToList();
        for (var i = 0; i < 5; i++)
        {
            var before = Volatile.Read(ref written);
            await TestWait.UntilAsync(() => Volatile.Read(ref written) >= before + 50 || writers.Exists(writer => writer.IsCompleted));
            await _store.AddIndexAsync("items", "m", cancellationToken: TestContext.Current.CancellationToken);
            await _store.SetTextIndexAsync("items", i % 2 == 0 ? [] : ["t"], cancellationToken: TestContext.Current.CancellationToken);
            await _store.DropIndexAsync("items", "m", TestContext.Current.CancellationToken);
        }

        await stop.CancelAsync();
        await Task.WhenAll(writers);
        await _store.SetTextIndexAsync("items", ["t"], cancellationToken: TestContext.Current.CancellationToken);
        await _store.AddIndexAsync("items", "m", cancellationToken: TestContext.Current.CancellationToken);
        collection.Search("all", 1).Matches.Should().Be(collection.Count);
        collection.Find(Query.Parse("m >= 0")).Documents.Should().HaveCount((int)collection.Count);
        _store.Environment.Verify().Problems.Should().BeEmpty();
    }

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static void Count(WordCounts counts, string[] words)
    {
        var reader = new Utf8JsonReader(JsonSerializer.SerializeToUtf8Bytes(string.Join(' ', words)));
        reader.Read();
        counts.Add(0, ref reader);
    }

    private static List<string> Read(WordCounts counts)
    {
        var words = new List<string>();
        foreach (var word in counts.InOrder())
            words.Add(Encoding.UTF8.GetString(counts.Word(word)));
        return words;
    }

    private static IEnumerable<string> Ids(QueryResult result) => result.Documents.Select(document => document.Id).Order(StringComparer.Ordinal);

    private async Task<Collection> NewCollectionAsync()
    {
        await _store.CreateCollectionAsync("items", TestContext.Current.CancellationToken);
        await _store.AddIndexAsync("items", "n", cancellationToken: TestContext.Current.CancellationToken);
        return await _store.SetTextIndexAsync("items", ["t"], cancellationToken: TestContext.Current.CancellationToken);
    }
}
