using Voron.Flushing;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Journal;

/// <summary>
/// Only the records that replay would need count towards the limit of the journal, wherever in a file they begin; anything more would slow
/// writers without cause.
/// </summary>
public sealed class JournalAccountingTests
{
    /// <summary>The whole newest file was counted, flushed or not.</summary>
    [Theory]
    [InlineData(4 << 20)]
    [InlineData(64 << 10)]
    public void After_a_flush_only_its_own_records_are_left(long fileBytes)
    {
        var disk = new SimulatedDisk();
        var options = new StorageOptions { BackgroundFlush = false, InitialJournalFileBytes = fileBytes, MaxJournalFileBytes = fileBytes };
        using var environment = StorageEnvironment.Open(disk, options);
        for (var round = 0; round < 3; round++)
        {
            for (var i = 0; i < 200; i++)
                FaultTestKit.Put(environment, i, FaultTestKit.Value(i + round, 4_000));
            environment.GetStatistics().LiveJournalBytes.Should().BeGreaterThan(200 * 4_000);
            environment.Flush();
            environment.GetStatistics().LiveJournalBytes.Should().BeInRange(1, 32 << 10);
        }
    }

    [Fact]
    public void A_journal_snapshot_leaves_nothing_to_replay_before_it()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), new StorageOptions { BackgroundFlush = false });
        FaultTestKit.Put(environment, 0, [1]);
        environment.Flush();
        using var reading = environment.BeginRead();
        for (var i = 0; i < 200; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 4_000));
        environment.Internals.WriteJournalSnapshot().Should().BeTrue();
        environment.GetStatistics().LiveJournalBytes.Should().Be(0);
    }

    /// <summary>
    /// If nothing was committed in between, the images of a flush come after the transaction that a journal snapshot stands for. They
    /// counted towards the limit until as much again had been committed: one commit a second.
    /// </summary>
    [Fact]
    public void A_journal_snapshot_right_after_a_flush_slows_no_writer_for_the_images_of_the_flush()
    {
        var options = new StorageOptions
        {
            PageSize = 65536,
            BackgroundFlush = false,
            JournalLimitBytes = 1 << 20,
            FlushThresholdBytes = 1 << 20,
            TornPageProtection = TornPageProtection.FullPageImages,
            JournalCompression = JournalCompression.Never,
        };
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), options);
        for (var i = 0; i < 400; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 10_000));
        environment.Flush();
        for (var i = 0; i < 400; i += 7)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i + 1, 100));
        using var reading = environment.BeginRead();

        // This commit is durable before the first image, and is published after the flush has chosen the state that the reader sees.
        FaultTestKit.Put(environment, 1, [1]);
        environment.Flush();
        environment.Internals.WriteJournalSnapshot().Should().BeTrue();
        var statistics = environment.GetStatistics();
        statistics.LiveJournalBytes.Should().BeGreaterThan(2 * options.JournalLimitBytes, "the images of the flush come after its transaction");
        ((FlushScheduler)environment.Internals.Engine.FlushServices!).HeldJournalBytes.Should().BeLessThan(options.JournalLimitBytes / 4);
    }

    /// <summary>An opening counted the whole length of each file that it found.</summary>
    [Theory]
    [InlineData(4 << 20)]
    [InlineData(64 << 10)]
    public void An_opening_counts_the_records_that_it_has_replayed(long fileBytes)
    {
        var disk = new SimulatedDisk();
        var options = new StorageOptions { BackgroundFlush = false, InitialJournalFileBytes = fileBytes, MaxJournalFileBytes = fileBytes };
        var environment = StorageEnvironment.Open(disk, options);
        for (var i = 0; i < 100; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 4_000));
        environment.Flush();
        for (var i = 0; i < 100; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i + 1, 4_000));
        var live = environment.GetStatistics().LiveJournalBytes;
        var crashed = new CrashImages(disk).BuildLost(disk.TraceCount);
        environment.Dispose();

        using var again = StorageEnvironment.Open(crashed, options);
        again.Recovery.ReplayedBytes.Should().Be(live);
        again.GetStatistics().LiveJournalBytes.Should().Be(live);
        FaultTestKit.Put(again, 1, [1]);
        again.GetStatistics().LiveJournalBytes.Should().BeInRange(live + 4096, live + 8192);
        again.Flush();
        again.GetStatistics().LiveJournalBytes.Should().BeLessThan(32 << 10);
    }

    /// <summary>With a limit below the length of a file, each commit waited a second for a flush that had nothing to do.</summary>
    [Theory]
    [InlineData(256 << 10, 16 << 20, TornPageProtection.Checksums)]
    [InlineData(1 << 20, 16 << 20, TornPageProtection.Checksums)]
    [InlineData(8 << 20, 64 << 20, TornPageProtection.Checksums)]
    [InlineData(256 << 10, 256 << 10, TornPageProtection.FullPageImages)]
    public void With_everything_flushed_no_writer_is_slowed_whatever_the_limit(long limit, long fileBytes, TornPageProtection form)
    {
        var options = new StorageOptions
        {
            InitialJournalFileBytes = Math.Min(4 << 20, fileBytes),
            MaxJournalFileBytes = fileBytes,
            JournalLimitBytes = limit,
            FlushThresholdBytes = limit / 4,
            FlushInterval = TimeSpan.FromMilliseconds(1),
            TornPageProtection = form,
            JournalCompression = JournalCompression.Never,
            ScrubInterval = Timeout.InfiniteTimeSpan,
        };
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), options);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            for (var i = 0; i < 2_000; i++)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 900));
            writing.Commit();
        }

        // Each change touches a page of its own: with images, the flush writes far more into the journal than the commits have.
        WaitUntilFlushed(environment);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree(FaultTestKit.TreeName);
            for (var i = 0; i < 2_000; i += 4)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i + 1, 900));
            writing.Commit();
        }

        for (var i = 0; i < 40; i++)
        {
            WaitUntilFlushed(environment);
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 20_000));
        }

        // A commit may fall between the checkpoint and the recount of the journal.
        environment.GetStatistics().BackPressureWaits.Should().BeLessThan(5);
    }

    /// <summary>
    /// The options demand no relation between the limit and the length of a file, since only records count towards the limit.
    /// </summary>
    [Theory]
    [InlineData(256 << 10, 256 << 10, 4 << 20, 16 << 20, 10_000)]
    [InlineData(256 << 10, 1, 4 << 20, 16 << 20, 10_000)]
    [InlineData(256 << 10, 256 << 10, 64 << 10, 64 << 10, 10_000)]
    [InlineData(256 << 10, 256 << 10, 4 << 20, 16 << 20, 400_000)]
    [InlineData(4 << 20, 4 << 20, 4 << 20, 4 << 20, 100_000)]
    [InlineData((4 << 20) - 4096, 1 << 20, 4 << 20, 4 << 20, 100_000)]
    public void Commits_far_beyond_a_small_limit_continue_at_full_speed(long limit, long threshold, long firstFile, long maxFile, int valueBytes)
    {
        const int Commits = 200;
        var options = new StorageOptions
        {
            InitialJournalFileBytes = firstFile,
            MaxJournalFileBytes = maxFile,
            JournalLimitBytes = limit,
            FlushThresholdBytes = threshold,
            LargeValueBytes = 1 << 20,
            JournalCompression = JournalCompression.Never,
            ScrubInterval = Timeout.InfiniteTimeSpan,
        };
        options.Validate();
        using var environment = StorageEnvironment.OpenInMemory(options);
        for (var i = 0; i < Commits; i++)
            FaultTestKit.Put(environment, i % 20, FaultTestKit.Value(i, valueBytes));

        // A writer that waits for a flush which never comes waits for a second, and so would most of the commits.
        environment.GetStatistics().BackPressureTime.Should().BeLessThan(TimeSpan.FromSeconds(Commits / 4));
        environment.GetStatistics().JournalTransactionBytes.Should().BeGreaterThan(4 * limit);
    }

    private static void WaitUntilFlushed(StorageEnvironment environment) =>
        TestWait.Until(() => environment.GetStatistics() is var now && now.CheckpointTransactionId == now.PublishedTransactionId);
}
