using System.Text;
using Microsoft.Extensions.Time.Testing;

namespace Voron.Documents.Tests;

/// <summary>Documents end at the time that they name.</summary>
[Quick]
public sealed class ExpiryTests : IDisposable
{
    private readonly FakeTimeProvider _time = new(new DateTimeOffset(2026, 5, 1, 12, 0, 0, TimeSpan.Zero));
    private readonly DocumentStore _store;
    private readonly CancellationToken _stop = TestContext.Current.CancellationToken;

    public ExpiryTests() => _store = DocumentStore.OpenInMemory(time: _time);

    public void Dispose() => _store.Dispose();

    [Theory]
    [InlineData("\"2026-05-01T12:00:10Z\"", 10)]
    [InlineData("\"2026-05-01T14:00:10+02:00\"", 10)]
    [InlineData("\"2026-05-01T12:00:10\"", 10)]
    [InlineData("\"2026-05-02\"", 12 * 3600)]
    [InlineData("1777636810", 10)]
    [InlineData("1777636810.5", 11)]
    [InlineData("1e300", null)]
    [InlineData("\"tomorrow\"", null)]
    [InlineData("null", null)]
    [InlineData("true", null)]
    [InlineData("{}", null)]
    public async Task A_document_is_read_until_its_time_is_over(string value, int? seconds)
    {
        var collection = await CreateAsync();
        collection.Put(Json(value), "a");
        await collection.PutAttachmentAsync("a", "z", new MemoryStream([1]), cancellationToken: _stop);
        _time.Advance(TimeSpan.FromSeconds((seconds ?? 1_000_000) - 1));
        IsThere(collection, "a").Should().BeTrue();
        (await _store.ExpireAsync(_stop)).Should().Be(0);
        _time.Advance(TimeSpan.FromSeconds(1));
        IsThere(collection, "a").Should().Be(seconds == null);
        (await _store.ExpireAsync(_stop)).Should().Be(seconds == null ? 0 : 1);
        collection.Count.Should().Be(seconds == null ? 1 : 0);
        using var reading = _store.Environment.BeginRead();
        reading.OpenTree("documents/attachments/items").Count.Should().Be(seconds == null ? 2 : 0);
    }

    [Fact]
    public async Task Many_documents_are_deleted_in_slices_and_the_others_stay()
    {
        var collection = await CreateAsync();
        collection.PutMany([.. Enumerable.Range(0, 1000).Select(n => ($"d{n:000}", Json($"{1777636800 + n}")))]);
        _time.Advance(TimeSpan.FromSeconds(699));
        collection.Find(Query.Parse("")).Documents.Should().HaveCount(300);
        collection.Find(Query.Parse("order by expires take 1")).Documents.Should().ContainSingle().Which.Id.Should().Be("d700");
        (await collection.ExpireAsync(_stop)).Should().Be(700);
        collection.Count.Should().Be(300);
    }

    [Fact]
    public async Task A_document_that_takes_the_id_of_one_that_is_over_is_new()
    {
        var collection = await CreateAsync();
        collection.Put(Json("1777636810"), "a");
        await collection.PutAttachmentAsync("a", "z", new MemoryStream([1]), cancellationToken: _stop);
        _time.Advance(TimeSpan.FromMinutes(1));
        (await collection.DeleteAsync("a", cancellationToken: _stop)).Should().BeFalse();
        collection.OpenAttachment("a", "z").Should().BeNull();
        var stored = await collection.PutAsync(Json("null"), "a", Voron.Tables.RowVersion.None, _stop);
        stored.IsNew.Should().BeTrue();
        collection.GetAttachments("a").Should().BeEmpty();
        (await collection.ExpireAsync(_stop)).Should().Be(0);
    }

    [Fact]
    public async Task The_path_can_change_and_go()
    {
        var collection = await CreateAsync();
        collection.Put(Encoding.UTF8.GetBytes("""{"expires":"2020-01-01","until":{"at":"2030-01-01"}}"""), "a");
        IsThere(collection, "a").Should().BeFalse();
        await _store.SetExpiryAsync("items", "until.at", _stop);
        IsThere(collection, "a").Should().BeTrue();
        _time.Advance(TimeSpan.FromDays(3000));
        IsThere(collection, "a").Should().BeFalse();
        await _store.SetExpiryAsync("items", null, _stop);
        IsThere(collection, "a").Should().BeTrue();
        (await _store.ExpireAsync(_stop)).Should().Be(0);
        await FluentActions.Awaiting(() => _store.SetExpiryAsync("items", "times[*]", _stop).AsTask()).Should().ThrowAsync<QueryException>();
    }

    private async Task<Collection> CreateAsync()
    {
        await _store.CreateCollectionAsync("items", _stop);
        return await _store.SetExpiryAsync("items", "$.expires", _stop);
    }

    private static bool IsThere(Collection collection, string id)
    {
        var isRead = collection.TryGet(id, out _);
        collection.Find(Query.Parse("")).Documents.Any(document => document.Id == id).Should().Be(isRead);
        return isRead;
    }

    private static ReadOnlyMemory<byte> Json(string value) => Encoding.UTF8.GetBytes($$"""{"expires":{{value}}}""");
}
