using System.Text;
using Voron.Tables;

namespace Voron.Documents.Tests;

/// <summary>Documents are stored, replaced, read and deleted by their ids, and stay when a store is opened again.</summary>
public sealed class CollectionTests : IDisposable
{
    private readonly string _directory = Path.Combine(Path.GetTempPath(), Guid.NewGuid().ToString("N"));

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Fact]
    public async Task Documents_and_indexes_are_there_after_a_store_is_opened_again()
    {
        using (var store = DocumentStore.Open(_directory))
        {
            var collection = await store.CreateCollectionAsync("items", TestContext.Current.CancellationToken);
            collection.Put(Bytes("""{"id":"a","n":1}""")).Should().Be("a");
            collection.Put(Bytes("""{"n":2}"""), "b").Should().Be("b");
            collection.Put(Bytes("""{"id":7.5,"n":3}""")).Should().Be("7.5");
            collection.Put(Bytes("""{"id":"a","n":4}"""));
            await store.AddIndexAsync("items", "n", cancellationToken: TestContext.Current.CancellationToken);
        }

        using (var store = DocumentStore.Open(_directory))
        {
            var collection = store.GetCollection("items");
            collection.Count.Should().Be(3);
            collection.Settings.Indexes.Should().Equal("$.n");
            collection.TryGet("a", out var document).Should().BeTrue();
            document.ToString().Should().Be("""{"id":"a","n":4}""");
            collection.TryGet("none", out _).Should().BeFalse();
            collection.TryGet(new string('x', 1000), out _).Should().BeFalse();
            collection.Find(Query.Parse("n >= 3 order by n desc")).Documents.Select(found => found.Id).Should().Equal("a", "7.5");
            collection.Delete("a").Should().BeTrue();
            collection.Delete("a").Should().BeFalse();
            collection.Find(Query.Parse("n = 4")).Documents.Should().BeEmpty();
            (await store.DropIndexAsync("items", "n", TestContext.Current.CancellationToken)).Find(Query.Parse("n = 3")).Plan.Should().StartWith("all documents");
            store.GetCollections().Should().ContainSingle().Which.Version.Should().Be(3);
            (await store.DropCollectionAsync("items", TestContext.Current.CancellationToken)).Should().BeTrue();
            (await store.DropCollectionAsync("items", TestContext.Current.CancellationToken)).Should().BeFalse();
            FluentActions.Invoking(() => store.GetCollection("items")).Should().Throw<KeyNotFoundException>().WithMessage("*'items'*");
            store.Environment.GetTables().Should().BeEmpty();
        }
    }

    [Theory]
    [InlineData("nonsense", "The text is no JSON*")]
    [InlineData("[1]", "The text is no JSON object*")]
    [InlineData("", "The text is no JSON*")]
    [InlineData("""{"a":1}""", "The document has no id*")]
    [InlineData("""{"id":null}""", "The document has no id*")]
    [InlineData("""{"id":""}""", "The document has no id*")]
    [InlineData("""{"id":"a"} x""", "The text is no JSON*")]
    [InlineData("""{"deep":{"id":"a"}}""", "The document has no id*")]
    public async Task What_is_no_document_is_refused(string json, string message)
    {
        using var store = DocumentStore.Open(_directory);
        var collection = await store.CreateCollectionAsync("items", TestContext.Current.CancellationToken);
        FluentActions.Invoking(() => collection.Put(Bytes(json))).Should().Throw<DocumentFormatException>().WithMessage(message);
        FluentActions.Invoking(() => collection.CreateBatch().Add(Bytes(json))).Should().Throw<DocumentFormatException>();
        collection.Count.Should().Be(0);
        FluentActions.Invoking(() => collection.Put(Bytes("{}"), "a\ud800")).Should().Throw<DocumentFormatException>().WithMessage("*surrogate*");
        FluentActions.Invoking(() => collection.Put(Bytes("{}"), new string('i', 201))).Should().Throw<DocumentFormatException>().WithMessage("*201 bytes*");
    }

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);
}
