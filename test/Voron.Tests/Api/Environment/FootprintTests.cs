using Voron.IO;
using Voron.Journal;
using Voron.Paging;
using Voron.Simulation.Disks;
using static Voron.Tests.Journal.JournalTestKit;

namespace Voron.Tests.Api;

/// <summary>The size of all files of an environment, while it is open and after it is closed.</summary>
public sealed class FootprintTests
{
    private const int KiB = 1 << 10;
    private const int MiB = 1 << 20;
    private const int SmallFile = 64 * KiB;

    /// <summary>The default options, without the threads, whose work the tests do themselves.</summary>
    private static StorageOptions Options => new() { BackgroundFlush = false };

    /// <summary>On a real file system, with all background work: it must not make a spare, or grow the data file, for a single key.</summary>
    [Fact]
    public async Task An_environment_with_one_key_is_small()
    {
        using var directory = new TestDirectory();
        var options = new StorageOptions { FlushInterval = TimeSpan.FromMilliseconds(50), ThreadIdleTime = TimeSpan.FromMilliseconds(50) };
        for (var opening = 0; opening < 3; opening++)
        {
            using (var environment = StorageEnvironment.Open(directory, options))
            {
                using (var writing = environment.BeginWrite())
                {
                    writing.CreateTree("t").Put([1], [(byte)opening]);
                    writing.Commit();
                }

                // Beyond the flush and the durability marker: nothing is left to be done then.
                await TestWait.UntilAsync(
                    () => environment.Internals.Engine.JournalFiles!.LiveRecordBytes > 0 && environment.GetStatistics().Flushes > 0);
                await TestWait.UntilAsync(() => environment.Internals.ThreadCount == 0);
                var open = Lengths(directory);
                open["voron.header"].Should().Be(8 * KiB);
                open["voron.data"].Should().Be(SmallFile);
                open.Where(file => JournalFile.IsName(file.Key)).Should().HaveCountLessThanOrEqualTo(2)
                    .And.OnlyContain(file => file.Value == SmallFile);
                open.Values.Sum().Should().BeLessThan(256 * KiB);
            }

            var closed = Lengths(directory);
            closed.Should().HaveCount(3);
            closed.Values.Sum().Should().Be(8 * KiB + SmallFile + SmallFile);
        }

        using var last = StorageEnvironment.Open(directory, Options);
        using var reading = last.BeginRead();
        reading.OpenTree("t").TryGet([1], out var value).Should().BeTrue();
        value.ToArray().Should().Equal(2);
    }

    [Theory]
    [InlineData(4096)]
    [InlineData(16384)]
    [InlineData(65536)]
    public void A_closed_environment_has_its_pages_and_one_small_journal_file(int pageSize)
    {
        var disk = new SimulatedDisk();
        var options = new StorageOptions { BackgroundFlush = false, PageSize = pageSize };
        long pages;
        using (var environment = StorageEnvironment.Open(disk, options))
        {
            for (var i = 0; i < 60; i++)
            {
                Put(environment, i * 1_000, 1_000);
                if (i % 20 == 10)
                    environment.Flush();
                Flushing(environment);
            }

            JournalBytes(disk).Should().BeGreaterThan(12 * MiB);
            pages = environment.GetStatistics().PageCount;
        }

        var files = disk.List().ToDictionary(entry => entry.Name, entry => entry.Length);
        files.Should().HaveCount(3);
        files[DataFile.FileName].Should().Be(GrowthPolicy.KeptWhenClosed(pages, pageSize) * pageSize);
        JournalBytes(disk).Should().Be(SmallFile);
        using var again = StorageEnvironment.Open(disk, options);
        again.Recovery.ReplayedRecords.Should().Be(0);
        Count(again).Should().Be(60_000);
        again.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>With an initial size, the application prefers the space while the environment is open, but not afterwards.</summary>
    [Fact]
    public void Preallocated_journal_files_are_given_up_at_the_close()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, new StorageOptions { BackgroundFlush = false, InitialJournalFileBytes = 4 * MiB }))
        {
            Put(environment, 0, 1);
            JournalBytes(disk).Should().Be(4 * MiB);
        }

        JournalBytes(disk).Should().Be(SmallFile);
        using var again = StorageEnvironment.Open(disk, Options);
        Count(again).Should().Be(1);
    }

    /// <summary>An environment that is opened and not written stays as it is, whatever an earlier version of the engine has left.</summary>
    [Fact]
    public void Closing_without_a_write_changes_nothing()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options))
            Put(environment, 0, 1_000);
        using (var file = disk.Open(DataFile.FileName, DiskOpen.Existing, DiskAccess.Buffered))
        {
            file.Allocate(0, 3 * MiB);
            file.Sync();
        }

        var from = disk.TraceCount;
        using (var environment = StorageEnvironment.Open(disk, Options))
            Count(environment).Should().Be(1_000);
        Enumerable.Range(from, disk.TraceCount - from).Select(i => disk.Trace(i).Kind)
            .Should().OnlyContain(kind => kind == TraceKind.Sync || kind == TraceKind.SyncEnd);
        using (var environment = StorageEnvironment.Open(disk, Options))
            Put(environment, 0, 1);
        disk.List().Single(entry => entry.Name == DataFile.FileName).Length.Should().BeLessThan(MiB, "the first close after a write cuts it");
    }

    /// <summary>
    /// Environments that write little between two flushes use the same small files again; only those that write much get large ones.
    /// </summary>
    [Fact]
    public void Journal_files_grow_with_the_bytes_between_two_flushes()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options);
        for (var i = 0; i < 400; i++)
        {
            Put(environment, i % 10, 1, seed: i);
            Flushing(environment);
            if (i % 10 == 9)
                environment.Flush();
        }

        Longest(disk).Should().BeLessThanOrEqualTo(MiB, "a quarter of such a file has more than the ten small commits between two flushes");
        var before = disk.List().Count;
        for (var i = 0; i < 100; i++)
        {
            Put(environment, i * 1_000, 1_000);
            Flushing(environment);
        }

        environment.Flush();
        Longest(disk).Should().Be(16 * MiB);
        disk.List().Where(entry => JournalFile.IsName(entry.Name)).Should().OnlyContain(
            entry => entry.Length >= MiB, "the load has outgrown the small ones");
        before.Should().BeLessThanOrEqualTo(6);
    }

    /// <summary>
    /// The files of a large environment are few: each is four times as long as the one before it, or as long as its first record needs.
    /// </summary>
    [Fact]
    public void Few_files_lead_to_the_largest()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options);
        var lengths = new List<long>();
        for (var i = 0; i < 8_000 && Longest(disk) < 16 * MiB; i++)
        {
            Put(environment, i * 10, 10);
            Flushing(environment);
            if (Longest(disk) is var longest && (lengths.Count == 0 || longest > lengths[^1]))
                lengths.Add(longest);
        }

        lengths.Should().Equal(SmallFile, 256 * KiB, MiB, 4 * MiB, 16 * MiB);

        var other = new SimulatedDisk();
        using var bulk = StorageEnvironment.Open(other, Options);
        for (var i = 0; i < 8; i++)
            Put(bulk, i * 10_000, 10_000);
        var files = other.List().Where(entry => JournalFile.IsName(entry.Name)).Select(entry => entry.Length).Order().ToList();
        files.Should().HaveCountLessThanOrEqualTo(3, "records of two MiB need no chain of small files");
        files[0].Should().BeGreaterThan(2 * MiB);
    }

    // What the flusher's thread does before a file is full.
    private static void Flushing(StorageEnvironment environment) => Voron.Flushing.SpareJournalFiles.Prepare(environment.Internals.Engine);

    private static long JournalBytes(SimulatedDisk disk) =>
        disk.List().Where(entry => JournalFile.IsName(entry.Name)).Sum(entry => entry.Length);

    private static long Longest(SimulatedDisk disk) =>
        disk.List().Where(entry => JournalFile.IsName(entry.Name)).Select(entry => entry.Length).DefaultIfEmpty().Max();

    private static Dictionary<string, long> Lengths(string directory) =>
        new DirectoryInfo(directory).GetFiles().ToDictionary(file => file.Name, file => file.Length);
}
