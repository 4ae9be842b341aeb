using Voron.Tables;

namespace Voron.Documents.Tests;

/// <summary>Changes that expect a version are refused if the document has another one.</summary>
[Quick]
public sealed class VersionTests : IDisposable
{
    private readonly DocumentStore _store = DocumentStore.OpenInMemory();
    private readonly CancellationToken _stop = TestContext.Current.CancellationToken;

    public void Dispose() => _store.Dispose();

    [Fact]
    public async Task A_change_expects_the_version_that_was_read()
    {
        var collection = await _store.CreateCollectionAsync("items", _stop);
        var first = await PutAsync(collection, 1, RowVersion.None);
        first.IsNew.Should().BeTrue();
        var second = await PutAsync(collection, 2, first.Version);
        second.IsNew.Should().BeFalse();
        second.Version.Value.Should().BeGreaterThan(first.Version.Value);
        collection.TryGet("a", out var document).Should().BeTrue();
        document.Version.Should().Be(second.Version);
        collection.Find(Query.Parse("n = 2")).Documents.Should().ContainSingle().Which.Version.Should().Be(second.Version);
        collection.Find(Query.Parse("order by n")).Documents.Should().ContainSingle().Which.Version.Should().Be(second.Version);

        var refused = await FluentActions.Awaiting(() => PutAsync(collection, 3, first.Version)).Should().ThrowAsync<DocumentConflictException>();
        refused.Which.Should().BeEquivalentTo(new { Id = "a", Expected = first.Version, Actual = second.Version });
        await FluentActions.Awaiting(() => PutAsync(collection, 3, RowVersion.None)).Should().ThrowAsync<DocumentConflictException>();
        await FluentActions.Awaiting(() => collection.DeleteAsync("a", first.Version, _stop).AsTask()).Should().ThrowAsync<DocumentConflictException>();
        await FluentActions.Awaiting(() => collection.DeleteAsync("b", first.Version, _stop).AsTask()).Should().ThrowAsync<DocumentConflictException>()
            .WithMessage("*there is no such document*");
        collection.TryGet("a", out document).Should().BeTrue();
        document.ToString().Should().Be("""{"n":2}""");

        (await collection.DeleteAsync("a", second.Version, _stop)).Should().BeTrue();
        (await collection.DeleteAsync("a", cancellationToken: _stop)).Should().BeFalse();
        (await PutAsync(collection, 4, RowVersion.None)).Version.Value.Should().BeGreaterThan(second.Version.Value, "a document has no version of an older one");
    }

    [Fact]
    public async Task Only_one_of_many_callers_changes_a_version()
    {
        var collection = await _store.CreateCollectionAsync("items", _stop);
        var first = await PutAsync(collection, 1, null);

        // A put that changes nothing leaves the version as it is, so none of them puts what is stored already.
        (await PutAsync(collection, 1, first.Version)).Version.Should().Be(first.Version);
        var results = await Task.WhenAll(Enumerable.Range(2, 20).Select(n => Task.Run(async () =>
        {
            try
            {
                await PutAsync(collection, n, first.Version);
                return 1;
            }
            catch (DocumentConflictException)
            {
                return 0;
            }
        })));
        results.Sum().Should().Be(1);
    }

    private async Task<StoredDocument> PutAsync(Collection collection, int n, RowVersion? expected) =>
        await collection.PutAsync(System.Text.Encoding.UTF8.GetBytes($$"""{"n":{{n}}}"""), "a", expected, _stop);
}
