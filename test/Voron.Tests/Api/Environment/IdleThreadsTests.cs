using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using Voron.Tests.Journal;

namespace Voron.Tests.Api;

/// <summary>An environment has threads only while there is work for them, and everything that they do is done all the same.</summary>
public sealed class IdleThreadsTests
{
    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    private static StorageOptions Options => new()
    {
        ThreadIdleTime = TimeSpan.FromMilliseconds(50),
        FlushInterval = TimeSpan.FromMilliseconds(100),
        JournalCompression = JournalCompression.Never,
    };

    [Fact]
    public async Task Threads_end_when_they_are_idle_and_start_again()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options);
        environment.Internals.ThreadCount.Should().Be(0, "nothing has been written");
        for (var round = 1; round <= 3; round++)
        {
            FaultTestKit.Put(environment, round, [1]);
            using (var writing = environment.BeginWrite())
            {
                writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(100 + round), [2]);
                await writing.CommitAsync(Cancellation);
            }

            await environment.WriteAsync(writing => writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(200 + round), [3]), Cancellation);
            TestWait.Until(() => environment.GetStatistics().Flushes >= round, "the flusher takes up its work");
            TestWait.Until(() => environment.Internals.ThreadCount == 0, "nothing is left to do");
        }

        var statistics = environment.GetStatistics();
        statistics.CheckpointTransactionId.Should().Be(statistics.PublishedTransactionId);
        environment.Internals.Engine.Journal!.End.Sequence.Should().BeGreaterThan(9 + 3, "the tail was confirmed, and the flushes wrote lists");
    }

    /// <summary>A replayed journal waits for a flush, so the thread begins at once.</summary>
    [Fact]
    public void An_opening_after_a_crash_starts_the_flusher()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            FaultTestKit.Put(environment, 1, [1]);
            disk = JournalTestKit.Kill(environment, disk);
        }

        using var again = StorageEnvironment.Open(disk, Options);
        again.Recovery.ReplayedRecords.Should().BePositive();
        TestWait.Until(() => again.GetStatistics() is { Flushes: > 0 }, "the flusher needs no commit to begin");
        TestWait.Until(() => again.Internals.ThreadCount == 0, "nothing is left to do");
    }

    [Fact]
    public void Without_background_work_there_is_no_thread()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), FaultTestKit.Options());
        for (var i = 0; i < 100; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 2_000));
        environment.Internals.ThreadCount.Should().Be(0);
    }

    [Fact]
    public void A_closed_environment_has_no_thread()
    {
        var environment = StorageEnvironment.Open(new SimulatedDisk(), new StorageOptions());
        FaultTestKit.Put(environment, 1, [1]);
        environment.Internals.ThreadCount.Should().Be(1);
        var internals = environment.Internals;
        environment.Dispose();
        internals.ThreadCount.Should().Be(0);
    }

    /// <summary>Verification waits on a timer; a pass has a thread of its own, and the next one begins an interval later.</summary>
    [Fact]
    public void Verification_in_the_background_needs_a_thread_only_for_a_pass()
    {
        using var reported = new CountdownEvent(3);
        using (var environment = StorageEnvironment.Open(new SimulatedDisk(), new StorageOptions
        {
            ScrubInterval = TimeSpan.FromMilliseconds(5),
            ScrubObserver = report =>
            {
                report.IsSound.Should().BeTrue();
                if (reported.CurrentCount > 0)
                    reported.Signal();
            },
        }))
        {
            FaultTestKit.Put(environment, 1, [1]);
            environment.Flush();
            reported.Wait(TestWait.Limit, Cancellation).Should().BeTrue("one pass follows the other");
        }
    }
}
