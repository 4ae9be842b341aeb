using System.Diagnostics;
using Voron.IO;
using Voron.Journal;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.Model;

namespace Voron.Torture.Suites;

/// <summary>
/// Runs writers and readers on many threads, with a flusher that detaches and recycles all the time, and a disk that hangs.
/// </summary>
internal sealed class IsolationSuite : Suite
{
    private const int MaxDoublings = 6;

    /// <summary>
    /// The number of commits and snapshots per second with few threads; far more than a wait for a disk or a lock would allow.
    /// </summary>
    private const double MinPerSecond = 5;

    /// <summary>Far longer than even a crowded machine needs, but finite.</summary>
    private static readonly TimeSpan Hanging = HangLimit.OfSeconds(20);

    private static readonly TimeSpan FlushBegins = TimeSpan.FromSeconds(2);

    private static readonly TimeSpan Third = TimeSpan.FromSeconds(1);

    public override string Name => "isolation";

    public override string Summary => "1 to 64 threads that write, use group commits and read: snapshots complete and repeatable, nothing lost, readers never blocked by a disk that hangs";

    public override string Unit => "milliseconds";

    public override long TestCount => 15_000;

    public override long FullCount => 24 * 60 * 60 * 1_000;

    public override bool IsReplayable => false;

    public override int Threads => 1;

    public override IReadOnlyList<string> NotCovered =>
    [
        "the system decides in which order threads run: a failure is found, but may not be reproduced by a replay",
        "disks that hang under a real file system: the suite stops the engine's own calls, on files in memory",
        "a wait of readers below a millisecond",
    ];

    public override void Run(SuiteRun run)
    {
        var choices = run.Choices;

        // One to sixty-four threads in all; few are as likely as many.
        var threads = 1 << choices.Next(MaxDoublings + 1);
        threads = Math.Max(1, threads - choices.Next(1 + (threads / 2)));
        var readers = Math.Clamp(choices.Next(threads + 1), 1, Math.Max(1, threads - 1));
        var grouped = choices.Next(threads - readers + 1);
        var writers = threads - readers - grouped;
        var inMemory = run.Index % 3 != 2;
        var isVolatile = run.Index % 6 == 4;
        var verifyEveryRead = choices.Next(4) == 3;
        var how = (isVolatile ? "nowhere else than in memory" : inMemory ? "on files in memory" : "on disk")
            + (verifyEveryRead ? ", verifying every read" : "");
        run.Step($"{writers} writers, {grouped} with group commits, {readers} readers, {how}");
        var begun = Stopwatch.GetTimestamp();
        if (isVolatile)
        {
            RunVolatile(run, verifyEveryRead, (writers, grouped, readers));
        }
        else
        {
            using var disk = new StallingDisk();
            using var place = new ModelPlace(inMemory);
            Run(run, place, disk, inMemory, verifyEveryRead, (writers, grouped, readers));
        }

        run.Count((long)Stopwatch.GetElapsedTime(begun).TotalMilliseconds);
        run.Tally("threads", threads);
        run.Tally($"up to {1 << (int)Math.Ceiling(Math.Log2(threads))} threads");
    }

    private static void Run(
        SuiteRun run, ModelPlace place, StallingDisk disk, bool inMemory, bool verifyEveryRead, (int Writers, int Grouped, int Readers) threads)
    {
        var options = Options(verifyEveryRead);
        long acknowledged;
        using (var environment = place.Open(options, disk.Watch))
        {
            var isolation = new IsolationRun(environment, run.Choices.Next(1 << 24));
            isolation.Prepare();
            isolation.Run(Third, threads.Writers, threads.Grouped, threads.Readers);

            // Once behind an old reader, which holds the flusher back, and once with the flusher at work.
            var canHang = inMemory && threads.Writers + threads.Grouped > 0;
            Action? stall = canHang ? () => ReadWhileStalled(run, environment, isolation, disk) : null;
            using (var longest = environment.BeginRead())
            {
                var before = IsolationRun.Judge(longest);
                isolation.Run(Third, threads.Writers, threads.Grouped, threads.Readers, stall);
                BrokenPromiseException.Require(IsolationRun.Judge(longest) == before, $"The snapshot {longest.TransactionId} has changed.");
            }
            isolation.Run(Third, threads.Writers, threads.Grouped, threads.Readers, stall);
            acknowledged = isolation.Acknowledged;
            Check(environment, acknowledged);
            var statistics = environment.GetStatistics();
            BrokenPromiseException.Require(statistics.Flushes > 0 || threads.Writers + threads.Grouped == 0, "Nothing was flushed: the flusher does nothing.");
            CheckRate("snapshots are read", isolation.Snapshots, isolation.RunTime);
            if (threads.Writers + threads.Grouped > 0)
                CheckRate("transactions are acknowledged", acknowledged, isolation.RunTime);
            run.Tally("snapshots", isolation.Snapshots);
            run.Tally("transactions", acknowledged);
            run.Tally("flushes", statistics.Flushes);
        }
        using var again = place.Open(options);
        Check(again, acknowledged);
    }

    // The engine of OpenInMemory, which keeps no journal, with a flusher that is busy all the same.
    private static void RunVolatile(SuiteRun run, bool verifyEveryRead, (int Writers, int Grouped, int Readers) threads)
    {
        using var environment = StorageEnvironment.Open(new MemoryDisk(isDiscarded: JournalFile.IsName), Options(verifyEveryRead));
        var isolation = new IsolationRun(environment, run.Choices.Next(1 << 24));
        isolation.Prepare();
        isolation.Run(Third, threads.Writers, threads.Grouped, threads.Readers);
        using (var longest = environment.BeginRead())
        {
            var before = IsolationRun.Judge(longest);
            isolation.Run(Third, threads.Writers, threads.Grouped, threads.Readers);
            BrokenPromiseException.Require(IsolationRun.Judge(longest) == before, $"The snapshot {longest.TransactionId} has changed.");
        }

        isolation.Run(Third, threads.Writers, threads.Grouped, threads.Readers);
        Check(environment, isolation.Acknowledged);
        var statistics = environment.GetStatistics();
        BrokenPromiseException.Require(statistics.JournalSnapshots == 0, "A journal snapshot was written that nothing can need.");
        run.Tally("transactions in memory only", isolation.Acknowledged);
        run.Tally("flushes in memory only", statistics.Flushes);
    }

    private static void CheckRate(string what, long count, TimeSpan time) => BrokenPromiseException.Require(
        count >= MinPerSecond * time.TotalSeconds, $"In {time.TotalSeconds:0.0} s {count} {what}.");

    // All writers hang; readers must not notice.
    private static void ReadWhileStalled(SuiteRun run, StorageEnvironment environment, IsolationRun isolation, StallingDisk disk)
    {
        disk.Stall();
        Task? flush = null;
        try
        {
            var begun = Stopwatch.GetTimestamp();
            while (disk.Waiting == 0)
            {
                BrokenPromiseException.Require(Stopwatch.GetElapsedTime(begun) < Hanging, "No thread writes.");
                Thread.Sleep(1);
            }

            // Starts a flush as well, with everything that it holds; behind an old reader it may have nothing to do.
            flush = Task.Factory.StartNew(() => environment.Flush(), default, TaskCreationOptions.LongRunning, TaskScheduler.Default);
            begun = Stopwatch.GetTimestamp();
            while (disk.Waiting < 2 && !flush.IsCompleted && Stopwatch.GetElapsedTime(begun) < FlushBegins)
                Thread.Sleep(1);
            if (!flush.IsCompleted)
                run.Tally("stalls of a flush too");
            var snapshots = isolation.Snapshots;
            var reads = new StalledReads(environment, disk);
            reads.Run();
            begun = Stopwatch.GetTimestamp();
            while (isolation.Snapshots == snapshots)
            {
                BrokenPromiseException.Require(
                    Stopwatch.GetElapsedTime(begun) < Hanging, "Readers wait for a disk that hangs: no thread reads a snapshot to its end.");
                Thread.Sleep(1);
            }
            BrokenPromiseException.Require(disk.Waiting > 0, "The disk does not hang: nothing was shown.");
            run.Tally("stalls");
            run.Tally("gets while stalled", reads.Count);
            run.Tally("microseconds of the median, summed over stalls", (long)reads.Median.TotalMicroseconds);
            run.Tally("microseconds of the slowest in twenty, summed over stalls", (long)reads.NearlyAll.TotalMicroseconds);
        }
        finally
        {
            disk.GoOn();
            flush?.GetAwaiter().GetResult();
        }
    }

    private static void Check(StorageEnvironment environment, long acknowledged)
    {
        var report = environment.Verify();
        BrokenPromiseException.Require(report.IsSound, report.ToString());
        using var reading = environment.BeginRead();
        IsolationRun.Judge(reading);
        var counted = IsolationRun.Counted(reading);
        BrokenPromiseException.Require(counted == acknowledged, $"{acknowledged} transactions were acknowledged, and {counted} are found.");
    }

    private static StorageOptions Options(bool verifyEveryRead) => new()
    {
        JournaledValueBytes = 0,
        FlushThresholdBytes = 256 << 10,
        FlushInterval = TimeSpan.FromMilliseconds(20),
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 128 << 10,
        JournalLimitBytes = 8 << 20,
        VerifyEveryRead = verifyEveryRead,
        Durability = verifyEveryRead ? Durability.Lazy : Durability.Durable,
        LazyInterval = TimeSpan.FromMilliseconds(2),
        MaxGroupCommitBytes = 64 << 10,
        MaxGrowthBytes = 1 << 20,
    };
}
