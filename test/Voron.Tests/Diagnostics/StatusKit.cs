using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Time.Testing;
using Voron.Diagnostics;
using Voron.Format;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Tests.Diagnostics;

/// <summary>An environment whose status file is written when a test moves its clock, on the test's thread.</summary>
internal sealed class StatusKit
{
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly List<DiskCall> _calls = [];

    public StatusKit(SimulatedDisk? disk = null)
    {
        Disk = disk ?? new SimulatedDisk { IsVisibleToOthers = true };
        Disk.FailNext(
            call =>
            {
                if (call.Name == StatusFile.FileName)
                {
                    lock (_calls)
                        _calls.Add(call);
                }

                return false;
            },
            DiskError.Failed,
            forever: true);
    }

    public FakeTimeProvider Clock { get; } = new(DateTimeOffset.UtcNow);

    public SimulatedDisk Disk { get; }

    /// <summary>The calls for the status file so far.</summary>
    public IReadOnlyList<DiskCall> Calls
    {
        get
        {
            lock (_calls)
                return [.. _calls];
        }
    }

    public int Writes => Calls.Count(call => call.Kind == DiskCallKind.Write);

    public StatusReading? Reading => StatusFile.TryRead(Disk, out _);

    public StatusBlock Block => Reading!.Block;

    public bool HasFile => Disk.List().Any(entry => entry.Name == StatusFile.FileName);

    public StorageOptions Options(ILogger? logger = null) => OptionsFor(Clock, logger);

    public static StorageOptions OptionsFor(TimeProvider clock, ILogger? logger = null) => new()
    {
        StatusInterval = Interval,
        StatusClock = clock,
        ScrubInterval = Timeout.InfiniteTimeSpan,
        FlushInterval = TimeSpan.FromMilliseconds(10),
        ThreadIdleTime = TimeSpan.FromMilliseconds(50),
        LoggerFactory = OneLoggerFactory.Of(logger),
    };

    public StorageEnvironment Open(ILogger? logger = null) => StorageEnvironment.Open(Disk, Options(logger));

    /// <summary>Waits until the flusher has nothing left to do.</summary>
    public static void WaitUntilIdle(StorageEnvironment environment) => TestWait.Until(
        () => environment.Internals.ThreadCount == 0
            && environment.GetStatistics() is var now && now.CheckpointTransactionId == now.PublishedTransactionId,
        "the flusher ends when it has nothing to do");

    /// <summary>Moves the clock until nothing more is written.</summary>
    public void Settle(StorageEnvironment environment)
    {
        WaitUntilIdle(environment);
        Clock.Advance(100 * Interval);
        Clock.Advance(100 * Interval);
    }
}
