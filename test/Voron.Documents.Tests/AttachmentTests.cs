using System.Text;

namespace Voron.Documents.Tests;

/// <summary>Attachments are stored, replaced, read, listed and deleted, and go with their document.</summary>
[Quick]
public sealed class AttachmentTests : IDisposable
{
    private readonly DocumentStore _store = DocumentStore.OpenInMemory();
    private readonly CancellationToken _stop = TestContext.Current.CancellationToken;

    public void Dispose() => _store.Dispose();

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(5000)]
    [InlineData(3_000_000)]
    public async Task An_attachment_is_read_as_it_was_stored(int length)
    {
        var collection = await CreateAsync();
        var content = new byte[length];
        new Random(length).NextBytes(content);
        var stored = await collection.PutAttachmentAsync("a", "the file", new MemoryStream(content), "image/png", _stop);
        stored.Should().BeEquivalentTo(new { Name = "the file", ContentType = "image/png", Length = length });
        Read(collection, "a", "the file").Should().Equal(content);
        collection.GetAttachments("a").Should().Equal(stored);
        _store.Environment.Verify().IsSound.Should().BeTrue();
    }

    [Fact]
    public async Task A_document_keeps_its_attachments_and_version_until_it_is_deleted()
    {
        var collection = await CreateAsync();
        collection.TryGet("a", out var before);
        await PutAsync(collection, "a", "z", "1");
        await PutAsync(collection, "a", "é/%2F?", "2");
        await PutAsync(collection, "b", "z", "3");
        var first = await PutAsync(collection, "a", "z", "4");
        (await PutAsync(collection, "a", "z", "5")).Version.Should().BeGreaterThan(first.Version);
        collection.TryGet("a", out var after);
        after.Version.Should().Be(before.Version);

        collection.Put("""{"id":"a","n":2}"""u8.ToArray());
        collection.GetAttachments("a").Select(attachment => attachment.Name).Should().Equal("z", "é/%2F?");
        (await collection.DeleteAttachmentAsync("a", "é/%2F?", _stop)).Should().BeTrue();
        (await collection.DeleteAttachmentAsync("a", "é/%2F?", _stop)).Should().BeFalse();
        Text(collection, "a", "z").Should().Be("5");

        collection.Delete("a").Should().BeTrue();
        collection.GetAttachments("a").Should().BeEmpty();
        collection.OpenAttachment("a", "z").Should().BeNull();
        (await collection.DeleteAttachmentAsync("a", "z", _stop)).Should().BeFalse();
        collection.Put("""{"id":"a"}"""u8.ToArray());
        collection.GetAttachments("a").Should().BeEmpty("a new document has none of the old one");
        Text(collection, "b", "z").Should().Be("3");
        Entries().Should().Be(2, "the note and the content of the other document are left");
    }

    [Theory]
    [InlineData("not a type")]
    [InlineData("image/png\n")]
    [InlineData("bad\nline")]
    [InlineData("text")]
    [InlineData("")]
    public async Task A_content_type_must_be_one(string type)
    {
        var collection = await CreateAsync();
        var put = async () => await collection.PutAttachmentAsync("a", "z", new MemoryStream([1]), type, _stop);
        (await put.Should().ThrowAsync<ArgumentException>()).Which.Message.Should().Contain("is no content type").And.NotContain("\n");
        collection.GetAttachments("a").Should().BeEmpty();
        const string Good = "text/plain; charset=utf-8";
        (await collection.PutAttachmentAsync("a", "z", new MemoryStream([1]), Good, _stop)).ContentType.Should().Be(Good);
    }

    [Fact]
    public async Task A_reader_keeps_what_it_has_opened()
    {
        var collection = await CreateAsync();
        var content = new byte[1_000_000];
        new Random(1).NextBytes(content);
        await collection.PutAttachmentAsync("a", "z", new MemoryStream(content), cancellationToken: _stop);
        using (var open = collection.OpenAttachment("a", "z")!)
        {
            var start = new byte[1000];
            await open.Stream.ReadExactlyAsync(start, _stop);
            collection.Delete("a");
            (await _store.DropCollectionAsync("items", _stop)).Should().BeTrue();
            using var rest = new MemoryStream();
            await open.Stream.CopyToAsync(rest, _stop);
            start.Concat(rest.ToArray()).Should().Equal(content);
        }

        _store.Environment.GetStatistics().OpenReaders.Should().Be(0);
        using var reading = _store.Environment.BeginRead();
        reading.GetTreeNames().Should().NotContain(name => name.Contains("attachments", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_source_that_breaks_off_leaves_what_was_there()
    {
        var collection = await CreateAsync();
        await PutAsync(collection, "a", "z", "old");
        var failing = FluentActions.Awaiting(() => collection.PutAttachmentAsync("a", "z", new BreakingStream(700_000), cancellationToken: _stop).AsTask());
        var failure = (await failing.Should().ThrowAsync<AttachmentSourceException>()
            .WithMessage("The source of attachment 'z' of document 'a' broke off after 700000 bytes: The cable is out. Nothing of it was stored.")).Which;
        failure.Should().BeEquivalentTo(new { DocumentId = "a", AttachmentName = "z", BytesRead = 700_000L });
        failure.InnerException.Should().BeOfType<EndOfStreamException>();
        Text(collection, "a", "z").Should().Be("old");
        Entries().Should().Be(2);
        _store.Environment.Verify().IsSound.Should().BeTrue();
    }

    [Fact]
    public async Task A_cancelled_call_is_no_broken_source()
    {
        var collection = await CreateAsync();
        using var cancelled = new CancellationTokenSource();
        await cancelled.CancelAsync();
        await FluentActions.Awaiting(() => collection.PutAttachmentAsync("a", "z", new MemoryStream(new byte[10]), cancellationToken: cancelled.Token).AsTask())
            .Should().ThrowAsync<OperationCanceledException>();
        collection.GetAttachments("a").Should().BeEmpty();
    }

    [Fact]
    public async Task An_attachment_needs_its_document()
    {
        var collection = await CreateAsync();
        await FluentActions.Awaiting(() => PutAsync(collection, "none", "z", "1")).Should().ThrowAsync<KeyNotFoundException>().WithMessage("*'none'*");
        var source = new CallingStream(() => collection.Delete("a"));
        await FluentActions.Awaiting(() => collection.PutAttachmentAsync("a", "z", source, cancellationToken: _stop).AsTask())
            .Should().ThrowAsync<KeyNotFoundException>("the document was deleted during the upload");
        await FluentActions.Awaiting(() => PutAsync(collection, "b", new string('n', 201), "1")).Should().ThrowAsync<ArgumentException>().WithMessage("*201*");
        await FluentActions.Awaiting(() => PutAsync(collection, "b", "", "1")).Should().ThrowAsync<ArgumentException>();
        using var reading = _store.Environment.BeginRead();
        reading.TryOpenTree("documents/attachments/items", out _).Should().BeFalse("none was stored");
    }

    private async Task<Collection> CreateAsync()
    {
        var collection = await _store.CreateCollectionAsync("items", _stop);
        collection.PutMany([("a", "{}"u8.ToArray()), ("b", "{}"u8.ToArray())]);
        return collection;
    }

    private async Task<Attachment> PutAsync(Collection collection, string id, string name, string text) =>
        await collection.PutAttachmentAsync(id, name, new MemoryStream(Encoding.UTF8.GetBytes(text)), cancellationToken: _stop);

    private static string Text(Collection collection, string id, string name) => Encoding.UTF8.GetString(Read(collection, id, name));

    private static byte[] Read(Collection collection, string id, string name)
    {
        using var content = collection.OpenAttachment(id, name);
        content.Should().NotBeNull();
        using var bytes = new MemoryStream();
        content!.Stream.CopyTo(bytes);
        return bytes.ToArray();
    }

    private long Entries()
    {
        using var reading = _store.Environment.BeginRead();
        return reading.OpenTree("documents/attachments/items").Count;
    }

    private sealed class BreakingStream(int length) : MemoryStream(new byte[length])
    {
        public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            var count = await base.ReadAsync(buffer, cancellationToken);
            return count > 0 ? count : throw new EndOfStreamException("The cable is out.");
        }
    }

    private sealed class CallingStream(Action action) : MemoryStream(new byte[10])
    {
        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            action();
            return base.ReadAsync(buffer, cancellationToken);
        }
    }
}
