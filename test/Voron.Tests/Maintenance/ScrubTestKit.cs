using Voron.IO;
using Voron.Maintenance;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using Voron.Transactions;

namespace Voron.Tests.Maintenance;

/// <summary>Helpers shared by the verification tests: a store with all kinds of pages, a hook for its reads, a clock of their own.</summary>
internal static class ScrubTestKit
{
    public const string DataFile = "voron.data";

    /// <summary>
    /// Makes a store with everything in the data file: small values, overflow extents, large values of one chunk and of many.
    /// </summary>
    public static SimulatedDisk MakeStore(int smallValues, int largeBytes = 400_000)
    {
        var disk = new SimulatedDisk();
        var options = new StorageOptions { BackgroundFlush = false, JournalCompression = JournalCompression.Never };
        using var environment = StorageEnvironment.Open(disk, options);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            for (var i = 0; i < smallValues; i++)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 900));
            var mixed = writing.CreateTree("mixed");
            for (var i = 0; i < 40; i++)
                mixed.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, i % 4 == 0 ? 9_000 : i % 10 == 3 ? 30_000 : 100));
            mixed.Put(FaultTestKit.Key(33), FaultTestKit.Value(33, largeBytes));
            writing.CreateTree("empty");
            writing.Commit();
        }

        return disk;
    }

    /// <summary>Verifies everything as the background does, slice by slice, each in a snapshot of its own.</summary>
    public static VerificationReport ScrubAll(StorageEnvironment environment, CancellationToken stop)
    {
        var pass = new ScrubPass(environment.Internals.Engine, new ScrubPace(0, new ScrubClock(), stop));
        var isDone = false;
        while (!isDone)
        {
            using var slice = new EngineSnapshot(environment.Internals.Engine);
            isDone = pass.RunSlice(slice.Snapshot);
        }

        return pass.Report;
    }

    /// <summary>Calls <paramref name="onRead"/> for each read of the data file; the callback may do anything but make the read fail.</summary>
    public static void OnRead(SimulatedDisk disk, Action<DiskCall> onRead) => disk.FailNext(
        call =>
        {
            if (call.Kind == DiskCallKind.Read && call.Name == DataFile)
                onRead(call);
            return false;
        },
        DiskError.Failed);
}

/// <summary>A clock on which every wait ends at once, until the requested passes are done.</summary>
internal sealed class FastClock(TimeSpan interval, int passes) : ScrubClock
{
    private long _ticks;
    private int _left = passes;

    /// <summary>Called instead of each wait between two slices.</summary>
    public Action? Between { get; init; }

    public override TimeSpan Now => TimeSpan.FromTicks(Interlocked.Read(ref _ticks));

    public override bool Wait(TimeSpan time, CancellationToken stop)
    {
        if (time == interval && Interlocked.Decrement(ref _left) < 0)
            return stop.WaitHandle.WaitOne();
        if (time != interval)
            Between?.Invoke();
        Interlocked.Add(ref _ticks, time.Ticks);
        return stop.IsCancellationRequested;
    }
}
