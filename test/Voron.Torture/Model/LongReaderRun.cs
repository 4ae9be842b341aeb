using System.Diagnostics;
using Voron.Simulation.Harness;

namespace Voron.Torture.Model;

/// <summary>Holds a reader open while everything is updated again and again.</summary>
internal sealed class LongReaderRun(string directory, int keys, TornPageProtection form)
{
    private const long JournalLimit = 4 << 20;
    private const long Growth = 1 << 20;
    private const long ScratchMemory = 16 << 20;
    private const int Parts = 6;

    /// <summary>
    /// The versions that the reader sees, that the flusher sees, and that are published; versions written by the current transaction, or by
    /// the last one and not examined since, are counted by <see cref="VersionsUnderWay"/>.
    /// </summary>
    private const int MaxVersionsPerPage = 3;

    /// <summary>Far fewer than even a crowded machine makes, and far more than a writer makes that waits until its time runs out.</summary>
    private const double MinCommitsPerSecond = 15;

    private static readonly TimeSpan Hanging = TimeSpan.FromMinutes(1);

    private int _version;

    /// <summary>
    /// The limit of bytes in journal files and journal snapshots. The engine's limit counts records only; released files remain until they
    /// are used again, and so does a journal snapshot until the next one replaces it. With images, a file keeps as much space free for
    /// those of a flush as it holds.
    /// </summary>
    private long MaxFileBytes => (form == TornPageProtection.FullPageImages ? 5 : 3) * JournalLimit;

    /// <summary>The number of times that everything was updated.</summary>
    public int Rounds => _version;

    public long JournalSnapshots { get; private set; }

    /// <summary>The number of commits while a reader was held open.</summary>
    public long Commits { get; private set; }

    /// <summary>The time that these commits took, without the checks between them.</summary>
    public TimeSpan CommitTime { get; private set; }

    /// <summary>The largest number of bytes in journal files and journal snapshots.</summary>
    public long LargestJournal { get; private set; }

    /// <summary>Updates until the given amount of journal was written, with a reader on the earlier state; then ends the reader.</summary>
    /// <param name="journals">The amount, as a multiple of the journal limit.</param>
    public void Hold(int journals, CancellationToken stop)
    {
        using var environment = StorageEnvironment.Open(directory, Options());
        Update(environment, ++_version, 0, keys);
        using (var reading = environment.BeginRead())
        {
            var held = _version;
            var before = environment.GetStatistics();
            while (environment.GetStatistics().JournalBytes - before.JournalBytes < journals * JournalLimit && !stop.IsCancellationRequested)
            {
                _version++;
                for (var part = 0; part < Parts; part++)
                {
                    var begun = Stopwatch.GetTimestamp();
                    Update(environment, _version, keys * part / Parts, keys * (part + 1) / Parts);
                    CommitTime += Stopwatch.GetElapsedTime(begun);
                    Commits++;
                    CheckSpace(environment.GetStatistics(), before);
                }
                LargestJournal = Math.Max(LargestJournal, JournalBytes());
                CheckVersion(reading, held);
            }

            var statistics = environment.GetStatistics();
            JournalSnapshots += statistics.JournalSnapshots;
            if (!stop.IsCancellationRequested)
                Require(statistics.JournalSnapshots >= journals / 2, $"{statistics.JournalSnapshots} journal snapshots kept the journal short while {journals} times its limit was written");
            Require(LargestJournal < MaxFileBytes, $"the journal's files have grown to {LargestJournal} bytes, with a limit of {JournalLimit}");

            // The time may have been over before the first commit: there is no rate then.
            var rate = Commits / CommitTime.TotalSeconds;
            Require(rate >= MinCommitsPerSecond || (Commits == 0 && stop.IsCancellationRequested), $"{rate:0.0} commits a second behind a reader");
            RequireSound(environment);
            CheckVersion(reading, held);
            using var now = environment.BeginRead();
            CheckVersion(now, _version);
        }
        GoBack(environment);
    }

    /// <summary>
    /// Closes the environment while a reader is open and a journal snapshot replaces part of the journal, and opens it again.
    /// </summary>
    public void ReopenWithJournalSnapshot(CancellationToken stop)
    {
        var environment = StorageEnvironment.Open(directory, Options());
        Update(environment, ++_version, 0, keys);
        using (var reading = environment.BeginRead())
        {
            var held = _version;
            var begun = Stopwatch.GetTimestamp();
            while (environment.GetStatistics().JournalSnapshots < 2 && !stop.IsCancellationRequested)
            {
                Update(environment, ++_version, 0, keys);
                Require(Stopwatch.GetElapsedTime(begun) < Hanging, $"no journal snapshot is written in {Hanging.TotalSeconds} s");
            }
            JournalSnapshots += environment.GetStatistics().JournalSnapshots;
            Update(environment, ++_version, 0, keys);
            environment.Dispose();
            Require(Directory.GetFiles(directory, "rewrite-*").Length == 1 || stop.IsCancellationRequested, "there is not exactly one journal snapshot");
            CheckVersion(reading, held);
        }
        using var again = StorageEnvironment.Open(directory, Options());
        using var now = again.BeginRead();
        CheckVersion(now, _version);
        RequireSound(again);
    }

    // Updates change values in place, so they need no additional pages. The file may grow ahead of need by one step.
    private static void CheckSpace(EnvironmentStatistics now, EnvironmentStatistics before)
    {
        // Writers are slowed at the limit, not stopped: writes that are under way when it is reached come on top.
        Require(now.LiveJournalBytes <= JournalLimit * 3 / 2, $"{now.LiveJournalBytes} bytes of records, with a limit of {JournalLimit}");
        Require(
            now.DataFileBytes <= before.DataFileBytes + Growth,
            $"a reader makes the data file grow from {before.DataFileBytes} to {now.DataFileBytes} bytes, in steps of {Growth}");
        var versions = (MaxVersionsPerPage * now.PageCount) + VersionsUnderWay(now.PageCount);
        Require(now.PageVersions <= versions, $"{now.PageVersions} versions of {now.PageCount} pages are kept");
        var scratch = (versions + now.PageCount) * now.PageSize;
        Require(now.ScratchBytes <= scratch, $"{now.ScratchBytes} bytes of scratch are in use for {now.PageCount} pages of {now.PageSize}");
        Require(
            now.ScratchReservedBytes <= ScratchMemory && now.SpilledBytes == 0,
            $"{now.ScratchReservedBytes} bytes of memory and {now.SpilledBytes} of a file are in use for {now.ScratchBytes} bytes of scratch");
    }

    private static long VersionsUnderWay(long pages) => (pages / 2) + 16;

    // The flush after the reader's end writes everything to the data file; the next writer returns the space that it kept.
    private void GoBack(StorageEnvironment environment)
    {
        for (var i = 0; i < 2; i++)
        {
            environment.Flush();
            using var writing = environment.BeginWrite();
            writing.Dispose();
        }
        var statistics = environment.GetStatistics();
        Require(statistics is { PageVersions: 0, ScratchBytes: 0 }, $"{statistics.PageVersions} versions and {statistics.ScratchBytes} bytes of scratch remain");
        Require(statistics.LiveJournalBytes < JournalLimit, $"{statistics.LiveJournalBytes} bytes of journal remain");
        Require(Directory.GetFiles(directory, "rewrite-*").Length == 0, "a journal snapshot remains");

        // Memory that was unused for two periods is freed, except for the part that is kept ready.
        for (var period = 0; period < 3; period++)
            environment.Internals.TrimMemory();
        statistics = environment.GetStatistics();
        var spare = 3L * environment.Internals.Engine.Frames.ChunkBytes;
        Require(statistics.ScratchReservedBytes <= spare, $"{statistics.ScratchReservedBytes} bytes of unused scratch memory remain");
        RequireSound(environment);
    }

    // Files come and go while they are counted: one that is gone has no bytes.
    private long JournalBytes()
    {
        long bytes = 0;
        var files = new DirectoryInfo(directory);
        foreach (var file in files.GetFiles("journal*").Concat(files.GetFiles("rewrite-*")))
        {
            try
            {
                bytes += file.Length;
            }
            catch (FileNotFoundException)
            {
            }
        }
        return bytes;
    }

    private static void Update(StorageEnvironment environment, int version, int from, int to)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("updated");
        for (var key = from; key < to; key++)
            tree.Put(BitConverter.GetBytes(key), Value(version, key));
        tree.Put([0, 0, 0, 0, 1], BitConverter.GetBytes(version));
        writing.Commit();
    }

    private void CheckVersion(ReadTransaction reading, int version)
    {
        var tree = reading.OpenTree("updated");
        Require(tree.Count == keys + 1, $"the tree has {tree.Count} items");
        for (var key = 0; key < keys; key++)
        {
            var isThere = tree.TryGet(BitConverter.GetBytes(key), out var value);
            Require(isThere && value.SequenceEqual(Value(version, key)), $"key {key} is not of version {version}");
        }
    }

    private static byte[] Value(int version, int key)
    {
        var value = new byte[100 + (key % 50)];
        new Random((version * 100_003) + key).NextBytes(value);
        return value;
    }

    private static void RequireSound(StorageEnvironment environment)
    {
        var report = environment.Verify();
        Require(report.IsSound, report.ToString());
    }

    private static void Require(bool holds, string message) => BrokenPromiseException.Require(holds, message);

    private StorageOptions Options() => new()
    {
        JournaledValueBytes = 0,
        FlushThresholdBytes = 256 << 10,
        FlushInterval = TimeSpan.FromMilliseconds(50),
        InitialJournalFileBytes = 512 << 10,
        MaxJournalFileBytes = 512 << 10,
        JournalLimitBytes = JournalLimit,
        JournalCompression = JournalCompression.Never,
        MaxGrowthBytes = Growth,
        ScratchMemoryBytes = ScratchMemory,
        TornPageProtection = form,
    };
}
