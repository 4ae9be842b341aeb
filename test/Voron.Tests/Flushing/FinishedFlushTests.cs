using Voron.Simulation.Disks;
using Voron.Testing;
using Voron.Tests.Faults;

namespace Voron.Tests.Flushing;

/// <summary>A flush whose header is durable is complete, whatever fails on its thread before it returns.</summary>
[Quick]
public sealed class FinishedFlushTests
{
    /// <summary>
    /// The plan of such a flush was kept as a paused one. The next flush repeated it under the same number, and a crash meanwhile left a
    /// data file that was marked as unfinished beside a header that declared it finished: every opening refused the pair.
    /// </summary>
    [Fact]
    public void A_failure_behind_the_header_does_not_bring_the_flush_back()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        for (var i = 0; i < 50; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 500));
        SchedulePoint.Current = new FailingSchedule(SchedulePlace.CheckpointWritten);
        try
        {
            environment.Invoking(it => it.Flush()).Should().Throw<PlannedException>();
        }
        finally
        {
            SchedulePoint.Current = null;
        }

        var cut = disk.TraceCount;
        environment.Flush();
        FaultTestKit.Put(environment, 50, FaultTestKit.Value(50, 500));
        environment.Flush().Should().NotBeNull();
        for (; cut <= disk.TraceCount; cut++)
        {
            using var opened = StorageEnvironment.Open(new CrashImages(disk).BuildLost(cut), FaultTestKit.Options());
            for (var i = 0; i < 50; i++)
                FaultTestKit.Get(opened, i).Should().Equal(FaultTestKit.Value(i, 500));
        }

        environment.Verify().Problems.Should().BeEmpty();
    }

    private sealed class PlannedException : Exception;

    /// <summary>Throws at one place, and leaves everything else to the system.</summary>
    private sealed class FailingSchedule(SchedulePlace failing) : SystemSchedule
    {
        public override void Reach(SchedulePlace place)
        {
            if (place == failing)
                throw new PlannedException();
        }
    }
}
