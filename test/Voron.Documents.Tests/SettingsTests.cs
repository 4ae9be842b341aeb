using System.Text;

namespace Voron.Documents.Tests;

/// <summary>Wherever a change of settings breaks off, documents are written and found, and the next change continues.</summary>
public sealed class SettingsTests : IDisposable
{
    private readonly string _directory = Path.Combine(Path.GetTempPath(), Guid.NewGuid().ToString("N"));
    private readonly CancellationToken _stop = TestContext.Current.CancellationToken;
    private DocumentStore _store;

    public SettingsTests() => _store = DocumentStore.Open(_directory);

    public void Dispose()
    {
        _store.Dispose();
        Directory.Delete(_directory, recursive: true);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_change_that_broke_off_before_the_table_has_it_continues(bool reopens)
    {
        var collection = await CreateAsync();
        var before = collection.Settings;
        var added = before with { Version = before.Version + 1, Indexes = ["$.n"], Text = new TextSettings(["$.t"], 77) };
        var dropped = added with { Version = added.Version + 1, Indexes = [], Text = null };
        Reshape(collection, added, before);
        collection.Put(Bytes("""{"n":1,"t":"early"}"""), "a");
        Reshape(collection, dropped, added, before);
        if (reopens)
            collection = Reopen();
        collection.Put(Bytes("""{"n":2,"t":"late"}"""), "b");
        collection.Delete("old").Should().BeTrue();
        Ids(collection.Find(Query.Parse("n > 0"))).Should().Equal("a", "b");

        await _store.AddIndexAsync("items", "n", cancellationToken: _stop);
        await _store.SetTextIndexAsync("items", ["t"], cancellationToken: _stop);
        collection.Put(Bytes("""{"n":3,"t":"last"}"""), "c");
        collection = Reopen();
        var found = collection.Find(Query.Parse("n > 0"));
        Ids(found).Should().Equal("a", "b", "c");
        found.Plan.Should().StartWith("index $.n");
        collection.Search("early or late or last or old").Matches.Should().Be(3);
        using var reading = _store.Environment.BeginRead();
        reading.GetTreeNames().Where(name => name.StartsWith("documents/text/", StringComparison.Ordinal)).Should().HaveCount(2, "older ones are gone");
    }

    [Fact]
    public async Task A_text_index_whose_table_was_not_ready_has_all_words_after_the_next_call()
    {
        var collection = await CreateAsync();
        var before = collection.Settings;
        var added = before with { Version = before.Version + 1, Text = new TextSettings(["$.t"], 77) };
        _store.Environment.Write(writing => new CollectionShape(added, TimeProvider.System).Text!.Create(writing));
        Reshape(collection, added, before);
        collection.Put(Bytes("""{"t":"first"}"""), "a");
        collection = await _store.SetTextIndexAsync("items", ["t"], cancellationToken: _stop);
        collection.Put(Bytes("""{"t":"second"}"""), "b");
        collection.Delete("old");
        collection.Search("first or second").Matches.Should().Be(2);
        collection.Search("old").Matches.Should().Be(0);
    }

    [Fact]
    public async Task A_deletion_that_broke_off_leaves_nothing_to_a_new_collection_of_the_name()
    {
        var collection = await CreateAsync();
        await _store.SetTextIndexAsync("items", ["t"], cancellationToken: _stop);
        await collection.PutAttachmentAsync("old", "file", new MemoryStream([1, 2, 3]), cancellationToken: _stop);
        _store.Environment.Write(writing => writing.OpenTree("documents/collections").Delete("items"u8));
        _store.Dispose();
        _store = DocumentStore.Open(_directory);
        collection = await _store.CreateCollectionAsync("items", _stop);
        collection.Count.Should().Be(0);
        collection.Put(Bytes("""{"t":"new"}"""), "old");
        collection.GetAttachments("old").Should().BeEmpty();
        await _store.SetTextIndexAsync("items", ["t"], cancellationToken: _stop);
        collection.Search("word").Matches.Should().Be(0);
        collection.Search("new").Matches.Should().Be(1);
    }

    [Fact]
    public async Task A_collection_that_is_gone_says_so()
    {
        var collection = await CreateAsync();
        await _store.DropCollectionAsync("items", _stop);
        FluentActions.Invoking(() => collection.Put(Bytes("{}"), "a")).Should().Throw<KeyNotFoundException>();
        FluentActions.Invoking(() => collection.Find(Query.Parse(""))).Should().Throw<KeyNotFoundException>();
        await FluentActions.Awaiting(async () => await _store.AddIndexAsync("items", "n", cancellationToken: _stop)).Should().ThrowAsync<KeyNotFoundException>();
        (await _store.CreateCollectionAsync("items", _stop)).Put(Bytes("{}"), "a");
        collection.Count.Should().Be(1, "the table has the same shape again");
    }

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static IEnumerable<string> Ids(QueryResult result) => result.Documents.Select(document => document.Id).Order(StringComparer.Ordinal);

    private async Task<Collection> CreateAsync()
    {
        var collection = await _store.CreateCollectionAsync("items", _stop);
        collection.Put(Bytes("""{"n":-1,"t":"old word"}"""), "old");
        return collection;
    }

    // As the store leaves it when the process ends, or the call is cancelled, before the table has the new settings.
    private void Reshape(Collection collection, CollectionSettings now, params CollectionSettings[] before)
    {
        _store.Environment.Write(writing => writing.OpenTree("documents/collections").Put("items"u8, new StoredSettings(now, before).ToBytes()));
        collection.Reshape(new CollectionShape(now, TimeProvider.System));
    }

    private Collection Reopen()
    {
        _store.Dispose();
        _store = DocumentStore.Open(_directory);
        return _store.GetCollection("items");
    }
}
