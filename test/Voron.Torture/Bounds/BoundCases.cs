using System.Collections.Concurrent;
using System.Diagnostics;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Simulation.Memory;

namespace Voron.Torture.Bounds;

/// <summary>All bound cases.</summary>
internal static class BoundCases
{
    /// <summary>
    /// The limit of files that an environment has open, whatever its journal: header, data file twice, current, next, one being read.
    /// </summary>
    private const int MaxOpenFiles = 11;

    /// <summary>
    /// The number of live journal files behind a reader from which a journal snapshot is written, however few bytes they hold.
    /// </summary>
    private const int MaxHeldFiles = 256;

    public static IReadOnlyList<BoundCase> All { get; } =
    [
        new("flushes beside a data file that cannot grow", CannotGrow),
        new("bytes of a journal snapshot that does not fit", SnapshotThatDoesNotFit),
        new("attempts at a journal snapshot that fails", SnapshotThatFails),
        new("waits of writers when everything is flushed", NothingUnflushed),
        new("descriptors of many journal files", ManyJournals),
        new("live journal files behind a reader", JournalsBehindReader),
        new("memory and descriptors of a recovery", RecoveryOfManyJournals),
        new("addresses under a limit", AddressesUnderLimit),
        new("age of a scrub's snapshots", ScrubCases.Slices),
        new("reads of the first transaction after an opening", FirstTransaction),
        new("transactions that pass a blocked caller", CallerCases.TurnOfBlockedCaller),
        new("waits of callers that block all threads of the pool", CallerCases.BlockedPool),
        new("bytes that a scrub reads a second", ScrubCases.Rate),
        new("definitions of dropped tables", RepeatedCases.DroppedTables),
        new("dictionaries under a limit", RepeatedCases.Dictionaries),
        new("rows that a deletion passes", RepeatedCases.DeletedRows),
        new("transactions of a copy of small trees", RepeatedCases.SmallTrees),
        new("blocks of a restored chain", RepeatedCases.RestoredBlocks),
    ];

    private static void CannotGrow(BoundPlace place)
    {
        DiskError[] errors = [DiskError.Failed, DiskError.AccessDenied, DiskError.NotSupported];
        var error = errors[place.Run.Choices.Next(errors.Length)];
        var bytes = 1_000 + place.Run.Choices.Next(4_000);
        var options = new StorageOptions
        {
            FlushThresholdBytes = 64 << 10,
            FlushInterval = TimeSpan.FromMilliseconds(1),
            ScrubInterval = Timeout.InfiniteTimeSpan,
        };
        using var environment = StorageEnvironment.Open(place.Disk, options);
        BoundPlace.Put(environment, 0, 500);
        place.Disk.FailNext(call => call.Kind == DiskCallKind.Allocate && call.Name == BoundPlace.DataFile, error, forever: true);
        Exception? failure = null;
        for (var i = 1; failure is null && i < 20_000; i++)
            failure = Catch(() => BoundPlace.Put(environment, i, bytes));
        BrokenPromiseException.Require(failure is StorageAccessException, $"A file that cannot grow ({error}) gave {failure?.Message ?? "no failure"}");
        for (var i = 0; i < 5; i++)
        {
            BoundPlace.Put(environment, 0, 500);
            BoundPlace.WaitUntilFlushed(environment, $"The data file cannot grow ({error})");
        }

        place.Disk.ClearFaults();
        BoundPlace.ShouldBeSound(environment);
    }

    private static void SnapshotThatDoesNotFit(BoundPlace place)
    {
        var count = 1_000 + place.Run.Choices.Next(4_000);
        using var environment = StorageEnvironment.Open(place.Disk, BoundPlace.Manual(4 << 20));
        BoundPlace.PutMany(environment, count, 1_000, 0);
        environment.Flush();
        using var reading = environment.BeginRead();
        BoundPlace.PutMany(environment, count, 1_000, 1);
        long written = 0;
        place.Disk.FailNext(
            call =>
            {
                written += IsJournalSnapshot(call) && call.Kind == DiskCallKind.Write ? call.Length : 0;
                return false;
            },
            DiskError.Failed);
        place.Disk.SpaceLimit = place.Disk.UsedBytes + place.Run.Choices.Next(count * 900);
        Exception? failure = Catch(() => environment.Internals.WriteJournalSnapshot());
        BrokenPromiseException.Require(failure is StorageFullException, $"A journal snapshot that does not fit gave {failure?.Message ?? "no failure"}");
        BrokenPromiseException.Require(written == 0, $"A journal snapshot that does not fit has written {written} bytes.");
        place.Disk.SpaceLimit = long.MaxValue;
        BrokenPromiseException.Require(environment.Internals.WriteJournalSnapshot() && written > 0, "A journal snapshot that fits was not written.");
    }

    private static void SnapshotThatFails(BoundPlace place)
    {
        var options = new StorageOptions
        {
            FlushThresholdBytes = 64 << 10,
            FlushInterval = TimeSpan.FromMilliseconds(1),
            JournalLimitBytes = 1 << 20,
            InitialJournalFileBytes = 256 << 10,
            MaxJournalFileBytes = 256 << 10,
            JournalCompression = JournalCompression.Never,
            ScrubInterval = Timeout.InfiniteTimeSpan,
        };
        using var environment = StorageEnvironment.Open(place.Disk, options);
        BoundPlace.Put(environment, 0, 10);
        BoundPlace.WaitUntilFlushed(environment, "A first value");
        var attempts = new ConcurrentQueue<long>();
        place.Disk.FailNext(
            call =>
            {
                if (call.Kind != DiskCallKind.Create || !IsJournalSnapshot(call))
                    return false;
                attempts.Enqueue(Stopwatch.GetTimestamp());
                return true;
            },
            DiskError.Failed,
            forever: true);
        using var reading = environment.BeginRead();
        for (var i = 0; environment.GetStatistics().LiveJournalBytes < 800 << 10; i++)
            BoundPlace.Put(environment, i, 9_000 + place.Run.Choices.Next(5_000));
        BrokenPromiseException.Require(
            SpinWait.SpinUntil(() => attempts.Count >= 3, BoundPlace.Patience),
            "A journal snapshot was not tried three times, with the journal near its limit.");

        // At once, after one second, and after two more. The times are those of the thread that pauses: a slow machine can only make them longer.
        var times = attempts.ToArray();
        for (var i = 1; i < 3; i++)
        {
            var pause = Stopwatch.GetElapsedTime(times[i - 1], times[i]);
            BrokenPromiseException.Require(pause.TotalSeconds >= i, $"A journal snapshot that fails was tried again after {pause.TotalMilliseconds:0} ms.");
        }
    }

    private static void NothingUnflushed(BoundPlace place)
    {
        var fileBytes = 1L << (20 + place.Run.Choices.Next(5));
        long limit = 256 << 10;
        var options = new StorageOptions
        {
            InitialJournalFileBytes = fileBytes,
            MaxJournalFileBytes = fileBytes,
            JournalLimitBytes = limit,
            FlushThresholdBytes = limit / 4,
            FlushInterval = TimeSpan.FromMilliseconds(1),
            JournalCompression = JournalCompression.Never,
            ScrubInterval = Timeout.InfiniteTimeSpan,
        };
        using var environment = StorageEnvironment.Open(place.Disk, options);
        for (var i = 0; i < 40; i++)
        {
            BoundPlace.Put(environment, i, 20_000);
            BoundPlace.WaitUntilFlushed(environment, $"A journal limit of {limit} bytes beside files of {fileBytes}");

            // A commit may come between the checkpoint and the moment at which the journal is counted again.
            var waits = environment.GetStatistics().BackPressureWaits;
            BrokenPromiseException.Require(waits < 5, $"Everything was flushed before each commit, and {waits} of {i + 1} were made to wait.");
        }
    }

    private static void ManyJournals(BoundPlace place)
    {
        var commits = 60 + place.Run.Choices.Next(60);
        using var environment = StorageEnvironment.Open(place.Disk, BoundPlace.Manual());
        for (var i = 0; i < commits; i++)
            BoundPlace.Put(environment, i, 40_000);
        var live = environment.Internals.Engine.JournalFiles!.LiveCount;
        BrokenPromiseException.Require(live > commits / 2, $"{commits} commits have left {live} live journal files: the case tests nothing.");
        RequireFewOpen(place, $"With {live} live journal files");
        environment.Flush();
        for (var i = 0; i < commits; i++)
            BoundPlace.Put(environment, i, 40_000);
        RequireFewOpen(place, "When released journal files are used again");
    }

    // One value fills a file, and all of them together are far below the journal limit and the flush threshold.
    private static void JournalsBehindReader(BoundPlace place)
    {
        var options = new StorageOptions
        {
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 64 << 10,
            LargeValueBytes = 1 << 20,
            JournalCompression = JournalCompression.Never,
            ScrubInterval = Timeout.InfiniteTimeSpan,
        };
        using var environment = StorageEnvironment.Open(place.Disk, options);
        BoundPlace.Put(environment, 0, 10);
        environment.Flush();
        using var reading = environment.BeginRead();
        var most = 0;
        for (var i = MaxHeldFiles + 200 + place.Run.Choices.Next(100); i > 0; i--)
        {
            BoundPlace.Put(environment, i % 10, 40_000);
            most = Math.Max(most, environment.Internals.Engine.JournalFiles!.LiveCount);
        }
        BrokenPromiseException.Require(most <= MaxHeldFiles + 100, $"A reader keeps {most} journal files live.");
        RequireFewOpen(place, $"Behind a reader, with up to {most} live journal files");
    }

    private static void RecoveryOfManyJournals(BoundPlace place)
    {
        var commits = 40 + place.Run.Choices.Next(60);
        long fileBytes = 64 << place.Run.Choices.Next(6) << 10;
        var environment = StorageEnvironment.Open(place.Disk, BoundPlace.Manual(fileBytes));
        for (var i = 0; i < commits; i++)
            BoundPlace.Put(environment, i, 10_000 + place.Run.Choices.Next((int)fileBytes));
        var live = environment.Internals.Engine.JournalFiles!.LiveCount;
        BoundPlace.Kill(environment);

        var windows = new WindowWatch();
        var open = 0;
        place.Disk.FailNext(_ => (open = Math.Max(open, place.Disk.OpenFiles)) < 0, DiskError.Failed, forever: true);
        using (windows.Watch())
            environment = StorageEnvironment.Open(place.Disk, BoundPlace.Manual(fileBytes));
        place.Disk.ClearFaults();
        using var opened = environment;
        BrokenPromiseException.Require(opened.Recovery.ReplayedRecords >= commits, $"{opened.Recovery.ReplayedRecords} of {commits} records were replayed.");
        BrokenPromiseException.Require(
            windows is { Most: 1, Now: 0 }, $"A recovery of {live} journal files had {windows.Most} windows at once, and has {windows.Now} now.");
        BrokenPromiseException.Require(open <= MaxOpenFiles, $"A recovery of {live} journal files had {open} files open.");
    }

    private static void AddressesUnderLimit(BoundPlace place)
    {
        var limit = (long)(1 + place.Run.Choices.Next(64)) << 30;
        var addresses = new AddressLimit(limit);
        Exception? failure;
        StorageEnvironment? environment = null;
        using (addresses.Watch())
            failure = Catch(() => environment = StorageEnvironment.Open(place.Disk, BoundPlace.Manual(4 << 20)));
        BrokenPromiseException.Require(failure is null, $"An empty environment cannot be opened with {limit} bytes of addresses: {failure?.Message}");
        using (environment)
        using (addresses.Watch())
        {
            BoundPlace.PutMany(environment!, 2_000, 1_000, 0);
            environment!.Flush();
            BoundPlace.ShouldBeSound(environment);
        }
    }

    private static void FirstTransaction(BoundPlace place)
    {
        const int ValueBytes = 256 << 20;

        // Two of 32 groups, times 34 of 4,096 sections that a search reads: the rest of a store of this size must stay unread.
        const long MaxRead = 200 * 4096;
        var values = 120 + place.Run.Choices.Next(40);
        var disk = new SparseDisk((long)(values + 4) * ValueBytes);
        try
        {
            using (var filled = StorageEnvironment.Open(disk, BoundPlace.Manual(4 << 20)))
            {
                var value = new byte[ValueBytes];
                for (var i = 0; i < values; i++)
                {
                    using var writing = filled.BeginWrite();
                    writing.CreateTree("values").Put([(byte)i], value);
                    writing.Commit();
                }
            }

            using var environment = StorageEnvironment.Open(disk, BoundPlace.Manual(4 << 20));
            var before = disk.ReadBytes;
            BoundPlace.Put(environment, 1, 100);
            using (var writing = environment.BeginWrite())
            {
                writing.CreateTree("values").Put([255, 1], new byte[1 << 20]);
                writing.Commit();
            }

            var read = disk.ReadBytes - before;
            var groups = environment.GetStatistics().PageCount / environment.Internals.Engine.Layout.PagesPerGroup;
            BrokenPromiseException.Require(
                read <= MaxRead, $"The first transactions after an opening have read {read} bytes of a store of {groups} groups of sections.");
        }
        finally
        {
            disk.Release();
        }
    }

    private static void RequireFewOpen(BoundPlace place, string when)
    {
        var open = place.Disk.OpenFiles;
        BrokenPromiseException.Require(open <= MaxOpenFiles, $"{when}, {open} files are open.");
    }

    private static bool IsJournalSnapshot(DiskCall call) => call.Name.StartsWith("rewrite-", StringComparison.Ordinal);

    private static VoronException? Catch(Action act)
    {
        try
        {
            act();
            return null;
        }
        catch (VoronException e)
        {
            return e;
        }
    }
}
