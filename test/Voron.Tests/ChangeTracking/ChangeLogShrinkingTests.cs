using Voron.Format;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using static Voron.Tests.ChangeTracking.ChangeLogKit;

namespace Voron.Tests.ChangeTracking;

/// <summary>A change log that has grown too large is written anew, and loses nothing by that.</summary>
public sealed class ChangeLogShrinkingTests
{
    [Fact]
    public void A_large_log_is_written_anew_and_keeps_its_points()
    {
        var (disk, logger) = (new SimulatedDisk(), new ListLogger());
        var points = new List<BackupPoint>();
        using (var environment = Open(disk, logger))
        {
            environment.Internals.Engine.ChangedPages!.LimitBytes = 128 << 10;
            environment.Internals.BeginChangeLog();
            for (var i = 0; i < 300; i++)
            {
                if (i == 100)
                    disk.FailNext(call => call.Kind == DiskCallKind.Create && IsUnfinished(call.Name), DiskError.NoSpace);
                Put(environment, i);
                if (i % 10 == 0)
                    points.Add(AddPoint(environment)!.Value);
                environment.Flush();
                disk.List().Where(entry => IsLog(entry.Name)).Sum(entry => entry.Length).Should().BeLessThanOrEqualTo((128 << 10) + (64 << 10));
            }

            Logs(disk).Should().HaveCount(1);
            FaultTestKit.WarningsOf(environment, logger).Should().ContainSingle("one attempt failed")
                .Which.Should().Contain("written anew in fewer bytes");
            foreach (var point in points)
                Find(environment, point).Should().Be(point);
        }

        using var again = Open(disk);
        foreach (var point in points)
        {
            Find(again, point).Should().Be(point);
            CanCollect(again, point.TransactionId).Should().BeTrue();
        }
    }

    [Theory]
    [InlineData(nameof(DiskCallKind.Create), 1)]
    [InlineData(nameof(DiskCallKind.Allocate), 1)]
    [InlineData(nameof(DiskCallKind.Read), 1)]
    [InlineData(nameof(DiskCallKind.Read), 9)]
    [InlineData(nameof(DiskCallKind.Write), 1)]
    [InlineData(nameof(DiskCallKind.Write), 9)]
    [InlineData(nameof(DiskCallKind.Sync), 1)]
    [InlineData(nameof(DiskCallKind.Sync), 2)]
    [InlineData(nameof(DiskCallKind.Rename), 1)]
    [InlineData(nameof(DiskCallKind.SyncDirectory), 1)]
    public void A_failure_while_a_log_is_written_anew_costs_at_most_the_log(string kind, int call)
    {
        var (disk, logger) = (new SimulatedDisk(), new ListLogger());
        BackupPoint first, last;
        bool isOn;
        using (var environment = Open(disk, logger))
        {
            environment.Internals.Engine.ChangedPages!.LimitBytes = 64 << 10;
            environment.Internals.BeginChangeLog();
            first = AddPoint(environment)!.Value;
            var failsAt = call;
            disk.FailNext(found => found.Kind.ToString() == kind && IsWithinShrinking(disk, found) && --failsAt == 0, DiskError.Failed);
            for (var i = 0; i < 40; i++)
            {
                Put(environment, i);
                environment.Flush().Should().NotBeNull();
            }

            isOn = environment.Internals.Engine.ChangedPages.IsOn;
            FaultTestKit.WarningsOf(environment, logger).Should().NotBeEmpty("the call has failed");
            Find(environment, first).Should().Be(isOn ? first : null);
            if (!isOn)
                environment.Internals.BeginChangeLog();
            last = AddPoint(environment)!.Value;
        }

        Logs(disk).Should().HaveCount(1);
        disk.List().Should().NotContain(entry => IsUnfinished(entry.Name));
        using var again = Open(disk);
        Find(again, last).Should().Be(last);
        Find(again, first).Should().Be(isOn ? first : null);
    }

    /// <summary>Points behind the entry that the header names must not be lost while the log is written anew.</summary>
    [Fact]
    public void A_kill_while_a_log_is_written_anew_loses_no_point()
    {
        var disk = new SimulatedDisk();
        var points = new List<(BackupPoint Point, int DurableAt)>();
        using (var environment = Open(disk))
        {
            environment.Internals.Engine.ChangedPages!.LimitBytes = 64 << 10;
            environment.Internals.BeginChangeLog();
            for (var i = 0; i < 12; i++)
            {
                Put(environment, i);
                environment.Flush();

                // More than one behind an entry of a flush, so that some are acknowledged when the log is written anew.
                for (var point = 0; point < 3; point++)
                    points.Add((AddPoint(environment)!.Value, disk.TraceCount));
            }

            var images = new CrashImages(disk);
            for (var image = 2 * points[0].DurableAt; image <= 2 * disk.TraceCount; image++)
            {
                var cut = image / 2;
                using var again = Open(image % 2 == 0 ? images.BuildKilled(cut) : images.BuildLost(cut));
                foreach (var (point, _) in points.Where(point => point.DurableAt <= cut))
                    Find(again, point).Should().Be(point, $"it was durable before call {cut}");
            }
        }
    }

    [Fact]
    public void A_log_that_cannot_be_written_anew_ends_before_it_grows_for_ever()
    {
        var (disk, logger) = (new SimulatedDisk(), new ListLogger());
        using var environment = Open(disk, logger);
        environment.Internals.Engine.ChangedPages!.LimitBytes = 64 << 10;
        environment.Internals.BeginChangeLog();
        disk.FailNext(call => call.Kind == DiskCallKind.Create && IsUnfinished(call.Name), DiskError.NoSpace, forever: true);
        for (var i = 0; i < 100; i++)
        {
            Put(environment, i);
            environment.Flush();
        }

        FaultTestKit.WarningsOf(environment, logger).Should().Contain(warning => warning.Contains("written anew in fewer bytes"))
            .And.ContainSingle(warning => warning.Contains("has ended"));
        environment.Internals.Engine.ChangedPages.IsOn.Should().BeFalse();
    }
}
