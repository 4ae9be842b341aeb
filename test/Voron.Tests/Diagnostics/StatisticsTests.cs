using System.Collections.Concurrent;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using Voron.Tests.Maintenance;

namespace Voron.Tests.Diagnostics;

/// <summary>Statistics have what a health check needs, with limits beside the values.</summary>
public sealed class StatisticsTests
{
    [Fact]
    public void Limits_stand_beside_the_values()
    {
        var options = new StorageOptions
        {
            BackgroundFlush = false,
            JournalLimitBytes = 100 << 20,
            ScratchMemoryBytes = 5 << 20,
            ScratchLimitBytes = 7 << 20,
            KeyHeadCacheBytes = 1 << 20,
            MaxQueuedOperations = 17,
        };
        var before = DateTimeOffset.UtcNow.AddMilliseconds(-20);
        using var environment = StorageEnvironment.OpenInMemory(options);
        var statistics = environment.GetStatistics();
        statistics.OpenedAt.Should().BeAfter(before).And.BeBefore(DateTimeOffset.UtcNow.AddMilliseconds(20));
        statistics.OpenedAt.Offset.Should().Be(TimeSpan.Zero);
        statistics.JournalLimitBytes.Should().Be(100 << 20);
        statistics.ScratchMemoryLimitBytes.Should().Be(5 << 20);
        statistics.ScratchLimitBytes.Should().Be(7 << 20);
        statistics.KeyHeadCacheLimitBytes.Should().Be(1 << 20);
        statistics.QueuedOperationsLimit.Should().Be(17);
        statistics.OpenReadersLimit.Should().Be(65535);
        statistics.IsBackPressureActive.Should().BeFalse();
        (statistics.LastScrubAt, statistics.ScrubRuns, statistics.LastScrubProblems).Should().Be((null, 0, 0));
        environment.Dispose();
        environment.Invoking(closed => closed.GetStatistics()).Should().Throw<ObjectDisposedException>();
    }

    [Fact]
    public void The_oldest_reader_is_found_whichever_slot_it_has()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false });
        Oldest().Should().Be((null, null));
        FaultTestKit.Put(environment, 1, [1]);
        var first = environment.BeginRead();
        var second = environment.BeginRead();
        FaultTestKit.Put(environment, 2, [2]);
        TestWait.Until(() => Oldest().Age >= TimeSpan.FromMilliseconds(15));
        using var third = environment.BeginRead();
        Oldest().Id.Should().Be(1);
        Oldest().Age.Should().BeGreaterThanOrEqualTo(TimeSpan.FromMilliseconds(15)).And.BeLessThan(TestWait.Limit);
        first.Dispose();
        Oldest().Id.Should().Be(1, "the second reader has the same snapshot");
        second.Dispose();
        Oldest().Id.Should().Be(2);
        using (var reused = environment.BeginRead())
            Oldest().Id.Should().Be(2);
        environment.Flush();
        third.Dispose();
        Oldest().Should().Be((null, null), "the flusher's own slot does not count");

        (long? Id, TimeSpan? Age) Oldest()
        {
            var statistics = environment.GetStatistics();
            return (statistics.OldestReaderTransactionId, statistics.OldestReaderAge);
        }
    }

    [Fact]
    public void Back_pressure_is_seen_while_it_lasts()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), new StorageOptions
        {
            ScratchMemoryBytes = 4 << 20,
            ScratchLimitBytes = 4 << 20,
            FlushInterval = TimeSpan.FromMilliseconds(50),
            ScrubInterval = Timeout.InfiniteTimeSpan,
        });
        FaultTestKit.Put(environment, 0, [1]);

        // The flusher cannot go past the reader, so the versions stay in memory.
        using (environment.BeginRead())
        {
            var longDelay = TimeSpan.FromMilliseconds(500);
            var statistics = environment.GetStatistics();
            var i = 1;
            TestWait.WorkUntil(() => statistics.IsBackPressureActive && statistics.BackPressureTime > longDelay, () =>
            {
                FaultTestKit.Put(environment, i, FaultTestKit.Value(i++, 15_000));
                statistics = environment.GetStatistics();
            });
            statistics.IsBackPressureActive.Should().BeTrue();
            statistics.VersionBytes.Should().BeGreaterThan(statistics.ScratchLimitBytes);
            statistics.BackPressureTime.Should().BeGreaterThan(longDelay, "a writer is delayed for a second at most");
        }

        TestWait.Until(() => !environment.GetStatistics().IsBackPressureActive, "the flusher has caught up");
    }

    [Fact]
    public void Verifications_in_the_background_are_counted_with_their_problems()
    {
        var disk = ScrubTestKit.MakeStore(200);
        disk.FlipBit(ScrubTestKit.DataFile, disk.Contents(ScrubTestKit.DataFile).AsSpan().IndexOf(FaultTestKit.Value(7, 900)) + 100, 3);
        using var reports = new BlockingCollection<VerificationReport>();
        var interval = TimeSpan.FromHours(1);
        using var environment = StorageEnvironment.Open(disk, new StorageOptions
        {
            ScrubInterval = interval,
            ScrubClock = new FastClock(interval, passes: 2),
            ScrubObserver = reports.Add,
            FlushInterval = TimeSpan.FromDays(1),
        });
        for (var run = 1; run <= 2; run++)
            reports.TryTake(out _, TestWait.Limit).Should().BeTrue();
        var statistics = environment.GetStatistics();
        (statistics.ScrubRuns, statistics.LastScrubProblems, statistics.ScrubProblems).Should().Be((2, 1, 2));
        statistics.ScrubbedBytes.Should().BeGreaterThan(2 * 200 * 900);
        statistics.LastScrubAt.Should().BeAfter(statistics.OpenedAt.AddSeconds(-1)).And.BeBefore(DateTimeOffset.UtcNow.AddSeconds(1));
    }

    [Fact]
    public void The_free_space_of_the_volume_is_that_of_the_system()
    {
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { BackgroundFlush = false });
        environment.GetStatistics().VolumeFreeBytes.Should().BeGreaterThan(0).And.BeLessThan(long.MaxValue);
        using var inMemory = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false });
        inMemory.GetStatistics().VolumeFreeBytes.Should().BeNull();
        using var limited = StorageEnvironment.OpenInMemory(new InMemoryOptions { MaxDataBytes = 2 << 20 });
        limited.GetStatistics().VolumeFreeBytes.Should().BeInRange(1 << 20, (2 << 20) - 1);
    }

    /// <summary>An observer that blocks would keep a health check waiting.</summary>
    [Fact]
    public void No_observer_is_called_by_the_question()
    {
        using var mayReturn = new ManualResetEventSlim();
        using var isBlocked = new ManualResetEventSlim();
        var environment = StorageEnvironment.OpenInMemory(new StorageOptions
        {
            BackgroundFlush = false,
            FlushObserver = _ =>
            {
                isBlocked.Set();
                mayReturn.Wait(TestWait.Limit);
            },
        });
        FaultTestKit.Put(environment, 1, [1]);
        var flushing = new TestThread(() => environment.Flush());
        isBlocked.Wait(TestWait.Limit, TestContext.Current.CancellationToken).Should().BeTrue();
        new TestThread(() => environment.GetStatistics()).Join().Should().BeNull();
        mayReturn.Set();
        flushing.Join().Should().BeNull();
        environment.Dispose();
    }
}
