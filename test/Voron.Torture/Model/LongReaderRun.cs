using System.Diagnostics;
using Voron.Torture.Harness;

namespace Voron.Torture.Model;

/// <summary>A reader that is held open while everything is updated again and again.</summary>
internal sealed class LongReaderRun(string directory, int keys, TornPageProtection form)
{
    private const long JournalLimit = 4 << 20;
    private const long Growth = 1 << 20;
    private const long ScratchMemory = 16 << 20;
    private const int Parts = 6;

    /// <summary>
    /// What the reader sees, what the flusher sees, and what is published; what is written by the transaction under way, or was by the
    /// last one and not looked at since, is counted by <see cref="VersionsUnderWay"/>.
    /// </summary>
    private const int MaxVersionsPerPage = 3;

    /// <summary>Far more than a crowded machine needs, and far less than a writer that waits for its time to run out.</summary>
    private const double MinCommitsPerSecond = 15;

    private static readonly TimeSpan Hanging = TimeSpan.FromMinutes(1);

    private int _version;

    /// <summary>
    /// Of journal files and rewrite files. The limit is one of records; files that have been let go of are there until they are used again, and
    /// so is a rewrite file until the next stands in its place. With images, a file keeps as much free for those of a flush as it holds.
    /// </summary>
    private long MaxFileBytes => (form == TornPageProtection.FullPageImages ? 5 : 3) * JournalLimit;

    /// <summary>Times that everything was updated.</summary>
    public int Rounds => _version;

    public long JournalSnapshots { get; private set; }

    /// <summary>Commits while a reader was held open.</summary>
    public long Commits { get; private set; }

    /// <summary>How long these took, what is looked at between them left out.</summary>
    public TimeSpan CommitTime { get; private set; }

    /// <summary>Bytes of journal files and rewrite files, at most.</summary>
    public long LargestJournal { get; private set; }

    /// <summary>Updates until that much journal was written, with a reader on the state before; then lets it go.</summary>
    /// <param name="journals">How many times the limit of the journal.</param>
    public void Hold(int journals, CancellationToken stop)
    {
        using StorageEnvironment environment = StorageEnvironment.Open(directory, Options());
        Update(environment, ++_version, 0, keys);
        using (ReadTransaction reading = environment.BeginRead())
        {
            int held = _version;
            EnvironmentStatistics before = environment.GetStatistics();
            while (environment.GetStatistics().JournalBytes - before.JournalBytes < journals * JournalLimit && !stop.IsCancellationRequested)
            {
                _version++;
                for (int part = 0; part < Parts; part++)
                {
                    long begun = Stopwatch.GetTimestamp();
                    Update(environment, _version, keys * part / Parts, keys * (part + 1) / Parts);
                    CommitTime += Stopwatch.GetElapsedTime(begun);
                    Commits++;
                    CheckSpace(environment.GetStatistics(), before);
                }
                LargestJournal = Math.Max(LargestJournal, JournalBytes());
                CheckVersion(reading, held);
            }

            EnvironmentStatistics statistics = environment.GetStatistics();
            JournalSnapshots += statistics.JournalSnapshots;
            if (!stop.IsCancellationRequested)
                Require(statistics.JournalSnapshots >= journals / 2, $"{statistics.JournalSnapshots} rewrites kept the journal short while {journals} times its limit was written");
            Require(LargestJournal < MaxFileBytes, $"the journal's files have grown to {LargestJournal} bytes, with a limit of {JournalLimit}");
            double rate = Commits / CommitTime.TotalSeconds;
            Require(rate >= MinCommitsPerSecond, $"{rate:0.0} commits a second behind a reader");
            RequireSound(environment);
            CheckVersion(reading, held);
            using ReadTransaction now = environment.BeginRead();
            CheckVersion(now, _version);
        }
        GoBack(environment);
    }

    /// <summary>Closes while a reader is open and a rewrite file stands for the journal, and opens again.</summary>
    public void ReopenWithJournalSnapshot(CancellationToken stop)
    {
        StorageEnvironment environment = StorageEnvironment.Open(directory, Options());
        Update(environment, ++_version, 0, keys);
        using (ReadTransaction reading = environment.BeginRead())
        {
            int held = _version;
            long begun = Stopwatch.GetTimestamp();
            while (environment.GetStatistics().JournalSnapshots < 2 && !stop.IsCancellationRequested)
            {
                Update(environment, ++_version, 0, keys);
                Require(Stopwatch.GetElapsedTime(begun) < Hanging, $"nothing is rewritten in {Hanging.TotalSeconds} s");
            }
            JournalSnapshots += environment.GetStatistics().JournalSnapshots;
            Update(environment, ++_version, 0, keys);
            environment.Dispose();
            Require(Directory.GetFiles(directory, "rewrite-*").Length == 1 || stop.IsCancellationRequested, "there is not one rewrite file");
            CheckVersion(reading, held);
        }
        using StorageEnvironment again = StorageEnvironment.Open(directory, Options());
        using ReadTransaction now = again.BeginRead();
        CheckVersion(now, _version);
        RequireSound(again);
    }

    // Updates change values in their places, so they need no page more than there were. What the file grows by ahead of need is a step.
    private static void CheckSpace(EnvironmentStatistics now, EnvironmentStatistics before)
    {
        // Writers are slowed at the limit, not stopped: what is under way when it is reached comes on top.
        Require(now.LiveJournalBytes <= JournalLimit * 3 / 2, $"{now.LiveJournalBytes} bytes of records, with a limit of {JournalLimit}");
        Require(
            now.DataFileBytes <= before.DataFileBytes + Growth,
            $"a reader makes the data file grow from {before.DataFileBytes} to {now.DataFileBytes} bytes, in steps of {Growth}");
        long versions = (MaxVersionsPerPage * now.PageCount) + VersionsUnderWay(now.PageCount);
        Require(now.PageVersions <= versions, $"{now.PageVersions} versions of {now.PageCount} pages are kept");
        long scratch = (versions + now.PageCount) * now.PageSize;
        Require(now.ScratchBytes <= scratch, $"{now.ScratchBytes} bytes of scratch are in use for {now.PageCount} pages of {now.PageSize}");
        Require(
            now.ScratchReservedBytes <= ScratchMemory && now.SpilledBytes == 0,
            $"{now.ScratchReservedBytes} bytes of memory and {now.SpilledBytes} of a file are in use for {now.ScratchBytes} bytes of scratch");
    }

    private static long VersionsUnderWay(long pages) => (pages / 2) + 16;

    // The flush after the reader's end takes everything home; the next writer gives back what it kept.
    private void GoBack(StorageEnvironment environment)
    {
        for (int i = 0; i < 2; i++)
        {
            environment.Flush();
            using WriteTransaction writing = environment.BeginWrite();
            writing.Dispose();
        }
        EnvironmentStatistics statistics = environment.GetStatistics();
        Require(statistics is { PageVersions: 0, ScratchBytes: 0 }, $"{statistics.PageVersions} versions and {statistics.ScratchBytes} bytes of scratch stay");
        Require(statistics.LiveJournalBytes < JournalLimit, $"{statistics.LiveJournalBytes} bytes of journal stay");
        Require(Directory.GetFiles(directory, "rewrite-*").Length == 0, "a rewrite file stays");

        // Memory that two periods have not needed goes back but for what is kept ready.
        for (int period = 0; period < 3; period++)
            environment.Internals.TrimMemory();
        statistics = environment.GetStatistics();
        long spare = 3L * environment.Internals.Engine.Frames.ChunkBytes;
        Require(statistics.ScratchReservedBytes <= spare, $"{statistics.ScratchReservedBytes} bytes of unused scratch memory stay");
        RequireSound(environment);
    }

    // Files come and go while they are counted: one that has gone has no bytes.
    private long JournalBytes()
    {
        long bytes = 0;
        var files = new DirectoryInfo(directory);
        foreach (FileInfo file in files.GetFiles("journal*").Concat(files.GetFiles("rewrite-*")))
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
        using WriteTransaction writing = environment.BeginWrite();
        WriteTree tree = writing.CreateTree("updated");
        for (int key = from; key < to; key++)
            tree.Put(BitConverter.GetBytes(key), Value(version, key));
        tree.Put([0, 0, 0, 0, 1], BitConverter.GetBytes(version));
        writing.Commit();
    }

    private void CheckVersion(ReadTransaction reading, int version)
    {
        Tree tree = reading.OpenTree("updated");
        Require(tree.Count == keys + 1, $"the tree has {tree.Count} items");
        for (int key = 0; key < keys; key++)
        {
            bool isThere = tree.TryGet(BitConverter.GetBytes(key), out ReadOnlySpan<byte> value);
            Require(isThere && value.SequenceEqual(Value(version, key)), $"key {key} is not of version {version}");
        }
    }

    private static byte[] Value(int version, int key)
    {
        byte[] value = new byte[100 + (key % 50)];
        new Random((version * 100_003) + key).NextBytes(value);
        return value;
    }

    private static void RequireSound(StorageEnvironment environment)
    {
        VerificationReport report = environment.Verify();
        Require(report.IsSound, report.ToString());
    }

    private static void Require(bool holds, string message) => BrokenPromiseException.Require(holds, message);

    private StorageOptions Options() => new()
    {
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
