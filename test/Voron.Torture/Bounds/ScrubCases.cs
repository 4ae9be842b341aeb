using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Torture.Bounds;

/// <summary>Checks the cost of a verification in the background: how long it holds a snapshot, and how much it reads.</summary>
internal static class ScrubCases
{
    public static void Slices(BoundPlace place)
    {
        var count = 1_000 + place.Run.Choices.Next(3_000);
        using (var filled = StorageEnvironment.Open(place.Disk, BoundPlace.Manual(4 << 20)))
            BoundPlace.PutMany(filled, count, 1_000, 0);
        StorageEnvironment? environment = null;
        using var opened = new ManualResetEventSlim();
        using var done = new ManualResetEventSlim();
        string? wrong = null;
        var waits = 0;
        var clock = new SlicedClock(() =>
        {
            opened.Wait();
            BoundPlace.Put(environment!, waits++, 100);
            environment!.Flush();
            var now = environment.GetStatistics();
            if (now.CheckpointTransactionId != now.PublishedTransactionId)
                wrong ??= $"After {waits} slices {now.CheckpointTransactionId} of {now.PublishedTransactionId} transactions are flushed.";
        });
        var options = new StorageOptions
        {
            ScrubInterval = SlicedClock.Interval,
            ScrubBytesPerSecond = 1 << 20,
            ScrubClock = clock,
            ScrubObserver = _ => done.Set(),
        };
        environment = StorageEnvironment.Open(place.Disk, options);
        opened.Set();
        using (environment)
        {
            BrokenPromiseException.Require(done.Wait(TimeSpan.FromSeconds(60)), "A scrub does not end.");
            var pages = environment.GetStatistics().PageCount;
            BrokenPromiseException.Require(wrong is null, wrong ?? "");
            BrokenPromiseException.Require(waits >= pages / 64, $"A scrub of {pages} pages ended its snapshot {waits} times.");
        }
    }

    /// <summary>
    /// A slice, an eighth of a second's bytes, is read at once. It ends with a complete leaf and its values: as much again, twice.
    /// </summary>
    public static void Rate(BoundPlace place)
    {
        const int BytesPerSecond = 1 << 20;
        const int MaxAhead = 400 << 10;
        var count = 1_000 + place.Run.Choices.Next(3_000);
        using (var filled = StorageEnvironment.Open(place.Disk, BoundPlace.Manual(4 << 20)))
            BoundPlace.PutMany(filled, count, 1_000, 0);
        using var done = new ManualResetEventSlim();
        var clock = new SlicedClock(() => { });
        long read = 0;
        long ahead = 0;
        place.Disk.FailNext(
            call =>
            {
                // Opening reads from the data file too.
                if (call.Kind == DiskCallKind.Read && call.Name == BoundPlace.DataFile && Thread.CurrentThread.Name == "Voron scrubber")
                {
                    read += call.Length;
                    ahead = Math.Max(ahead, read - (long)((clock.Now - SlicedClock.Interval).TotalSeconds * BytesPerSecond));
                }
                return false;
            },
            DiskError.Failed);
        var options = new StorageOptions
        {
            ScrubInterval = SlicedClock.Interval,
            ScrubBytesPerSecond = BytesPerSecond,
            ScrubClock = clock,
            ScrubObserver = _ => done.Set(),
        };
        using var environment = StorageEnvironment.Open(place.Disk, options);
        BrokenPromiseException.Require(done.Wait(TimeSpan.FromSeconds(60)), "A scrub does not end.");
        BrokenPromiseException.Require(read >= count * 900L, $"A scrub has read {read} bytes of {count} values of 1,000 bytes.");
        BrokenPromiseException.Require(ahead <= MaxAhead, $"A scrub of {BytesPerSecond} bytes a second has read {ahead} bytes before their time.");
    }

    /// <summary>A clock for one pass, which calls an action in every wait between two slices.</summary>
    private sealed class SlicedClock(Action between) : ScrubClock
    {
        public static readonly TimeSpan Interval = TimeSpan.FromHours(1);

        private long _ticks;
        private int _passes;

        public override TimeSpan Now => TimeSpan.FromTicks(Interlocked.Read(ref _ticks));

        public override bool Wait(TimeSpan time, CancellationToken stop)
        {
            if (time == Interval && _passes++ > 0)
                return stop.WaitHandle.WaitOne();
            if (time != Interval)
                between();
            Interlocked.Add(ref _ticks, time.Ticks);
            return stop.IsCancellationRequested;
        }
    }
}
