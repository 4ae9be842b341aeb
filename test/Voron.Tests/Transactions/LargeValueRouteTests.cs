using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>Few bytes of large values go through the journal, and many go to the data file directly.</summary>
[Quick]
public sealed class LargeValueRouteTests : IDisposable
{
    private const string Data = "voron.data";

    private readonly SimulatedDisk _disk = new();

    private int _next;

    public void Dispose() => _disk.Dispose();

    [Theory]
    [InlineData(16 << 10)]
    [InlineData(64 << 10)]
    public void A_value_that_a_transaction_puts_alone_takes_one_write_of_the_device(int length)
    {
        using var environment = Open(new StorageOptions { BackgroundFlush = false });
        var before = _disk.TraceCount;
        Put(environment, 1, length).Should().Be(0);
        Put(environment, 1, length).Should().Be(0);
        Enumerable.Range(before, _disk.TraceCount - before).Select(_disk.Trace)
            .Should().NotContain(call => call.Kind == TraceKind.Write && call.File == _disk.FileOf(Data));
        Check(environment, length);
        environment.Flush();
        Check(environment, length);
    }

    [Theory]
    [InlineData(1, (64 << 10) + 1)]
    [InlineData(10, 16 << 10)]
    public void A_transaction_that_follows_one_with_many_bytes_writes_its_values_directly(int count, int length)
    {
        using var environment = Open(new StorageOptions { BackgroundFlush = false });
        Put(environment, count, length);
        Put(environment, count, length).Should().Be(count);
        Put(environment, 1, 20_000).Should().Be(1, "the last transaction had many bytes");
        Put(environment, 1, 20_000).Should().Be(0);
    }

    [Fact]
    public void A_value_of_a_length_that_was_chosen_is_written_directly()
    {
        using var environment = Open(new StorageOptions { BackgroundFlush = false, LargeValueBytes = 20_000 });
        Put(environment, 1, 19_999).Should().Be(0);
        Put(environment, 1, 20_000).Should().Be(1);
    }

    [Fact]
    public void A_value_is_written_directly_while_the_journal_has_enough_for_a_flush()
    {
        using var environment = Open(new StorageOptions { BackgroundFlush = false, FlushThresholdBytes = 256 << 10 });
        var puts = 0;
        while (Put(environment, 1, 20_000) == 0)
            (++puts).Should().BeLessThan(100);
        environment.GetStatistics().LiveJournalBytes.Should().BeGreaterThan(256 << 10);
        environment.Flush();
        Put(environment, 1, 20_000).Should().Be(0);
    }

    private StorageEnvironment Open(StorageOptions options) => StorageEnvironment.Open(_disk, options);

    [Fact]
    public void A_value_is_written_directly_while_page_versions_have_enough_for_a_flush()
    {
        using var environment = Open(new StorageOptions { BackgroundFlush = false, ScratchMemoryBytes = 1 << 20, ScratchLimitBytes = 64 << 20 });
        var puts = 0;
        while (Put(environment, 1, 60_000) == 0)
            (++puts).Should().BeLessThan(400);
        environment.GetStatistics().VersionBytes.Should().BeGreaterThan(1 << 20);
        environment.GetStatistics().LiveJournalBytes.Should().BeLessThan(64 << 20);
        environment.Flush();
        Put(environment, 1, 60_000);
        Put(environment, 1, 60_000).Should().Be(0);
    }

    [Fact]
    public async Task A_value_beside_one_that_is_written_directly_is_too()
    {
        using var environment = Open(new StorageOptions { BackgroundFlush = false });
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree(FaultTestKit.TreeName);
        await tree.PutAsync(new byte[] { 1 }, new MemoryStream(new byte[100_000]), TestContext.Current.CancellationToken);
        tree.Put([2], new byte[20_000]);
        writing.Body.WritePages.DirectExtents.Count.Should().Be(2);
    }

    // Returns the number of values that were written directly.
    private int Put(StorageEnvironment environment, int count, int length)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree(FaultTestKit.TreeName);
        for (var i = 0; i < count; i++, _next++)
            tree.Put(FaultTestKit.Key(_next), FaultTestKit.Value(_next, length));
        var direct = writing.Body.WritePages.DirectExtents.Count;
        writing.Commit();
        return direct;
    }

    private void Check(StorageEnvironment environment, int length)
    {
        for (var i = 0; i < _next; i++)
            FaultTestKit.Get(environment, i).Should().Equal(FaultTestKit.Value(i, length));
        environment.Verify().Problems.Should().BeEmpty();
    }
}
