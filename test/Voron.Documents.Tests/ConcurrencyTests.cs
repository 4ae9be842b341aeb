using System.Text;
using Voron.Tables;

namespace Voron.Documents.Tests;

/// <summary>Documents are read and written while indexes come and go.</summary>
[Quick]
public sealed class ConcurrencyTests : IDisposable
{
    private readonly DocumentStore _store = DocumentStore.OpenInMemory();
    private readonly CancellationToken _stop = TestContext.Current.CancellationToken;

    public void Dispose() => _store.Dispose();

    [Fact]
    public async Task Documents_are_read_and_written_while_an_index_is_built()
    {
        var collection = await _store.CreateCollectionAsync("items", _stop);
        for (var batch = 0; batch < 20; batch++)
            collection.PutMany([.. Enumerable.Range(batch * 1000, 1000).Select(n => ($"d{n}", Json(n)))]);

        // The build waits after its first step, or it could be over before a crowded machine lets the loop begin.
        using var isBeside = new ManualResetEventSlim();
        var progress = new SynchronousProgress<EvolveProgress>(_ => isBeside.Wait(TestWait.Limit, _stop).Should().BeTrue());
        var building = Task.Run(async () => await _store.AddIndexAsync("items", "n", progress, _stop));
        var written = 0;
        while (!building.IsCompleted)
        {
            var current = _store.GetCollection("items");
            await current.PutAsync(Json(100_000 + written), $"new{written}", cancellationToken: _stop);
            current.Find(Query.Parse($"n = {100_000 + written} take 1")).Documents.Should().ContainSingle();
            current.TryGet("d5", out _).Should().BeTrue();
            if (++written == 20)
                isBeside.Set();
        }

        await building;
        written.Should().BeGreaterThanOrEqualTo(20);
        var result = _store.GetCollection("items").Find(Query.Parse("n >= 100000"));
        result.Documents.Should().HaveCount(written);
        result.Plan.Should().StartWith("index $.n");
    }

    private static ReadOnlyMemory<byte> Json(int n) => Encoding.UTF8.GetBytes($$"""{"n":{{n}},"text":"{{new string('x', 100)}}"}""");
}
