using Microsoft.Extensions.Logging;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Tests.Faults;

namespace Voron.Tests.Flushing;

/// <summary>Failures in the background are logged, because there is no caller to report them to.</summary>
[Quick]
public sealed class FlusherLogTests
{
    /// <summary>The flusher's thread ended silently when another thread had poisoned the environment.</summary>
    [Fact]
    public void The_end_of_flushing_is_an_error_in_the_log_whichever_thread_met_the_failure()
    {
        var disk = new SimulatedDisk();
        var logger = new ListLogger();
        using var environment = StorageEnvironment.Open(
            disk,
            new StorageOptions
            {
                LoggerFactory = OneLoggerFactory.Of(logger),
                FlushInterval = TimeSpan.FromMilliseconds(1),
                ScrubInterval = Timeout.InfiniteTimeSpan,
            });
        FaultTestKit.Put(environment, 1, [1]);
        disk.FailNext(
            call => call.Kind == DiskCallKind.Write && call.Name.StartsWith("journal-", StringComparison.Ordinal), DiskError.Failed, forever: true);
        environment.Invoking(open => FaultTestKit.Put(open, 2, [2])).Should().Throw<EnvironmentPoisonedException>();
        TestWait.Until(() => Errors(logger).Any());
        Errors(logger).Should().ContainSingle().Which.Should().Contain("refuses all writes").And.Contain("planted");
    }

    /// <summary>The failure was mistaken for a file system that has no holes.</summary>
    [Fact]
    public void A_failure_to_release_space_is_logged_once()
    {
        var disk = new SimulatedDisk();
        var logger = new ListLogger();
        using var environment = StorageEnvironment.Open(disk, new StorageOptions
        {
            LoggerFactory = OneLoggerFactory.Of(logger),
            BackgroundFlush = false,
        });
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("a");
            for (var i = 0; i < 100; i++)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 100_000));
            writing.CreateTree("b").Put(FaultTestKit.Key(1), [1]);
            writing.Commit();
        }

        environment.Flush();
        using (var writing = environment.BeginWrite())
        {
            writing.DeleteTree("a");
            writing.Commit();
        }

        environment.Flush();
        disk.FailNext(call => call.Kind is DiskCallKind.Punch or DiskCallKind.SetLength, DiskError.Failed, forever: true);
        for (var i = 0; i < 3; i++)
            environment.ReclaimSpace().Should().Be(0);
        TestWait.Until(() => logger.Warnings.Any());
        logger.Warnings.Should().ContainSingle().Which.Should().Contain("returned to the file system").And.Contain("planted");
        disk.ClearFaults();
        environment.ReclaimSpace().Should().BeGreaterThan(1_000_000);
        environment.Verify().Problems.Should().BeEmpty();
    }

    private static IEnumerable<string> Errors(ListLogger logger) =>
        logger.Entries.Where(entry => entry.Level >= LogLevel.Error).Select(entry => entry.Message);
}
