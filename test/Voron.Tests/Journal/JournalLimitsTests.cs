using Voron.Format;
using Voron.Simulation.Disks;

namespace Voron.Tests.Journal;

[Quick]
public sealed class JournalLimitsTests
{
    private static readonly StorageOptions SmallFiles = new()
    {
        BackgroundFlush = false,
        InitialJournalFileBytes = 65536,
        MaxJournalFileBytes = 65536,
        JournalCompression = JournalCompression.Never,
    };

    [Fact]
    public void More_live_files_than_a_header_can_seal_are_recovered_and_written_after()
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, SmallFiles);
        var random = new Random(1);
        for (var i = 0; i < 100; i++)
            Fill(environment, random, 0, 10);
        environment.GetStatistics().LiveJournalBytes.Should().BeGreaterThan(JournalFileHeader.MaxSeals * 65536L);

        var crashed = new CrashImages(disk).BuildLost(disk.TraceCount);
        for (var i = 0; i < 2; i++)
        {
            var again = StorageEnvironment.Open(crashed, SmallFiles);
            Fill(again, random, i * 10, 10);
            again.Verify().Problems.Should().BeEmpty();
            crashed = new CrashImages(crashed).BuildLost(crashed.TraceCount);
            again.Dispose();
        }

        environment.Dispose();
    }

    [Fact]
    public void Commits_on_a_full_disk_continue_by_flushing()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, SmallFiles);
        var random = new Random(1);
        for (var i = 0; i < 100; i++)
            Fill(environment, random, i * 10, 10);
        environment.Flush();
        disk.SpaceLimit = disk.UsedBytes + 4 * 65536;
        var before = environment.GetStatistics();
        for (var i = 0; i < 2_000; i++)
            Fill(environment, random, random.Next(100) * 10, 1);

        // The journal of these commits would need several times the remaining room: each commit that found none has flushed and continued.
        var statistics = environment.GetStatistics();
        statistics.Flushes.Should().BeGreaterThan(before.Flushes);
        (statistics.JournalTransactionBytes - before.JournalTransactionBytes).Should().BeGreaterThan(3 * 4 * 65536);
        environment.Flush();
        environment.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>
    /// While a reader keeps freed pages from being flushed, each journal file reserves room for a longer list of them. That must neither
    /// cost a file for each commit nor make the journal look full.
    /// </summary>
    [Fact]
    public void Many_freed_pages_behind_a_reader_do_not_fill_the_journal_with_reserves()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions
        {
            BackgroundFlush = false,
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 128 << 10,
            JournalCompression = JournalCompression.Never,
            JournaledValueBytes = 0,
        });
        var value = new byte[64 << 10];
        Put(environment, value);
        using var reading = environment.BeginRead();
        for (var i = 0; i < 1_000; i++)
            Put(environment, value);
        var statistics = environment.GetStatistics();
        statistics.PageVersions.Should().BeGreaterThan(10_000);
        statistics.LiveJournalBytes.Should().BeLessThan(4 * statistics.JournalBytes);
    }

    [Fact]
    public async Task A_streamed_value_that_finds_no_room_breaks_its_transaction()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, SmallFiles);
        Fill(environment, new Random(1), 0, 10);
        disk.SpaceLimit = disk.UsedBytes + 65536;
        var writing = environment.BeginWrite();
        var tree = writing.OpenTree("users");
        var put = async () => await tree.PutAsync("large"u8.ToArray(), new MemoryStream(new byte[8 << 20]));
        await put.Should().ThrowAsync<StorageFullException>();
        writing.Invoking(transaction => transaction.Commit()).Should().Throw<InvalidOperationException>();
        disk.SpaceLimit = long.MaxValue;
        Fill(environment, new Random(2), 0, 10);
        environment.Verify().Problems.Should().BeEmpty();
    }

    private static void Put(StorageEnvironment environment, byte[] value)
    {
        using var writing = environment.BeginWrite();
        writing.CreateTree("users").Put([1], value);
        writing.Commit();
    }

    private static void Fill(StorageEnvironment environment, Random random, int from, int count)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("users");
        var value = new byte[6000];
        for (var i = from; i < from + count; i++)
        {
            random.NextBytes(value);
            tree.Put(BitConverter.GetBytes(i), value);
        }

        writing.Commit();
    }
}
