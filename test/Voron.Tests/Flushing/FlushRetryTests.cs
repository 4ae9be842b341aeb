using System.Collections.Concurrent;
using System.Diagnostics;
using Microsoft.Extensions.Logging;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Tests.Faults;

namespace Voron.Tests.Flushing;

/// <summary>When a step of the flusher's thread fails and keeps failing, the other steps still run, and the log does not fill up.</summary>
public sealed class FlushRetryTests
{
    /// <summary>When growing ahead of need failed for any reason but a full disk, nothing was ever flushed again.</summary>
    [Theory]
    [InlineData(DiskError.Failed)]
    [InlineData(DiskError.AccessDenied)]
    [InlineData(DiskError.NoSpace)]
    [InlineData(DiskError.NotSupported)]
    public void A_data_file_that_cannot_grow_is_flushed_to_all_the_same(object error)
    {
        var disk = new SimulatedDisk();
        var logger = new ListLogger();
        var options = new StorageOptions
        {
            FlushThresholdBytes = 64 << 10,
            FlushInterval = TimeSpan.FromMilliseconds(1),
            ScrubInterval = Timeout.InfiniteTimeSpan,
            LoggerFactory = OneLoggerFactory.Of(logger),
        };
        using var environment = StorageEnvironment.Open(disk, options);
        FaultTestKit.Put(environment, 0, FaultTestKit.Value(0, 500));
        disk.FailNext(call => call.Kind == DiskCallKind.Allocate && call.Name == "voron.data", (DiskError)error, forever: true);

        // Starts after the first value, which is later changed in place and needs no page then.
        var last = 1;
        var fill = () =>
        {
            for (; last < 20_000; last++)
                FaultTestKit.Put(environment, last, FaultTestKit.Value(last, 3_000));
        };
        if ((DiskError)error == DiskError.NoSpace)
            fill.Should().Throw<StorageFullException>();
        else
            fill.Should().Throw<StorageAccessException>();
        last.Should().BeInRange(10, 10_000);

        for (var i = 0; i < 20; i++)
        {
            FaultTestKit.Put(environment, 0, FaultTestKit.Value(i, 500));
            WaitUntilFlushed(environment);
        }

        environment.GetStatistics().BackPressureWaits.Should().Be(0);
        logger.Entries.Where(entry => entry.Level >= LogLevel.Warning).Should().HaveCountLessThan(4, "one a minute is enough");
        disk.ClearFaults();
        for (; last < 1_000; last++)
            FaultTestKit.Put(environment, last, FaultTestKit.Value(last, 3_000));
        environment.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>The pages before the one that did not fit were written and deleted ten times a second: 2.4 GB in 15 s.</summary>
    [Fact]
    public void A_journal_snapshot_that_does_not_fit_writes_nothing()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        Update(environment, 0);
        environment.Flush();
        using var reading = environment.BeginRead();
        Update(environment, 1);
        long created = 0, written = 0;
        disk.FailNext(
            call =>
            {
                var isJournalSnapshot = call.Name.StartsWith("rewrite-", StringComparison.Ordinal);
                created += isJournalSnapshot && call.Kind == DiskCallKind.Create ? 1 : 0;
                written += isJournalSnapshot && call.Kind == DiskCallKind.Write ? call.Length : 0;
                return false;
            },
            DiskError.Failed);
        disk.SpaceLimit = disk.UsedBytes + (6 << 20);
        var rewrite = () => environment.Internals.WriteJournalSnapshot();
        rewrite.Should().Throw<StorageFullException>().WithMessage("*rewrite-*bytes*space for*");
        (created, written).Should().Be((0, 0));

        disk.SpaceLimit = disk.UsedBytes + (20 << 20);
        rewrite().Should().BeTrue();
        written.Should().BeGreaterThan(6 << 20);
        disk.AvailableBytes.Should().BeGreaterThan((20 << 20) - written - (256 << 10), "unneeded space is returned");
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_failed_journal_snapshot_is_retried_less_and_less_often()
    {
        var disk = new SimulatedDisk();
        var logger = new ListLogger();
        var options = new StorageOptions
        {
            FlushThresholdBytes = 64 << 10,
            JournalLimitBytes = 4 << 20,
            InitialJournalFileBytes = 1 << 20,
            MaxJournalFileBytes = 1 << 20,
            JournalCompression = JournalCompression.Never,
            ScrubInterval = Timeout.InfiniteTimeSpan,
            LoggerFactory = OneLoggerFactory.Of(logger),
        };
        using var environment = StorageEnvironment.Open(disk, options);
        FaultTestKit.Put(environment, 0, [1]);
        WaitUntilFlushed(environment);
        var attempts = new ConcurrentQueue<long>();
        disk.FailNext(
            call =>
            {
                if (call.Kind != DiskCallKind.Create || !call.Name.StartsWith("rewrite-", StringComparison.Ordinal))
                    return false;
                attempts.Enqueue(Stopwatch.GetTimestamp());
                return true;
            },
            DiskError.Failed,
            forever: true);
        using var reading = environment.BeginRead();
        for (var i = 0; environment.GetStatistics().LiveJournalBytes < 3 << 20; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 9_000));
        TestWait.Until(() => attempts.Count >= 3);

        // The times are those of the thread that pauses, so a slow machine can only make them longer.
        var times = attempts.ToArray();
        Stopwatch.GetElapsedTime(times[0], times[1]).Should().BeGreaterThanOrEqualTo(TimeSpan.FromSeconds(1));
        Stopwatch.GetElapsedTime(times[1], times[2]).Should().BeGreaterThanOrEqualTo(TimeSpan.FromSeconds(2));
        logger.Warnings.Count(warning => warning.Contains("could not write a journal snapshot", StringComparison.Ordinal)).Should().Be(1);
        environment.GetStatistics().IsPoisoned.Should().BeFalse();
    }

    private static void Update(StorageEnvironment environment, int seed)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree(FaultTestKit.TreeName);
        for (var i = 0; i < 8_000; i++)
            tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(seed + i, 1_000));
        writing.Commit();
    }

    private static void WaitUntilFlushed(StorageEnvironment environment) =>
        TestWait.Until(() => environment.GetStatistics() is var now && now.CheckpointTransactionId == now.PublishedTransactionId);
}
