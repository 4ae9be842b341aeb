using System.Diagnostics;
using Voron.Torture.Harness;

namespace Voron.Torture.Model;

/// <summary>A reader that is held open while everything is updated again and again.</summary>
internal sealed class LongReaderRun(string directory, int keys, FlushRecordForm form)
{
    private const long JournalLimit = 4 << 20;
    private const int Parts = 6;

    /// <summary>Versions of one page: what the reader holds, what a flush holds, what is written meanwhile, and some in a queue.</summary>
    private const int MostVersionsPerPage = 8;

    private int _version;

    /// <summary>Times that everything was updated.</summary>
    public int Rounds => _version;

    public long Rewrites { get; private set; }

    /// <summary>Bytes of journal files, at most.</summary>
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
            long most = 0;
            long bytes = environment.GetStatistics().JournalBytes;
            while (environment.GetStatistics().JournalBytes - bytes < journals * JournalLimit && !stop.IsCancellationRequested)
            {
                _version++;
                for (int part = 0; part < Parts; part++)
                    Update(environment, _version, keys * part / Parts, keys * (part + 1) / Parts);
                LargestJournal = Math.Max(LargestJournal, JournalBytes());
                most = Math.Max(most, environment.GetStatistics().PageVersions);
                CheckVersion(reading, held);
            }

            EnvironmentStatistics statistics = environment.GetStatistics();
            Rewrites += statistics.Rewrites;
            if (!stop.IsCancellationRequested)
                Require(statistics.Rewrites >= journals / 2, $"{statistics.Rewrites} rewrites kept the journal short while {journals} times its limit was written");
            Require(LargestJournal < 3 * JournalLimit, $"the journal has grown to {LargestJournal} bytes, with a limit of {JournalLimit}");
            Require(most < MostVersionsPerPage * statistics.PageCount, $"{most} versions of {statistics.PageCount} pages are kept");
            Require(statistics.DataFileBytes < 16 << 20, $"a reader makes the data file grow to {statistics.DataFileBytes} bytes");
            RequireSound(environment);
            CheckVersion(reading, held);
            using ReadTransaction now = environment.BeginRead();
            CheckVersion(now, _version);
        }
        GoBack(environment);
    }

    /// <summary>Closes while a reader is open and a rewrite file stands for the journal, and opens again.</summary>
    public void ReopenWithRewriteFile(TimeSpan limit)
    {
        StorageEnvironment environment = StorageEnvironment.Open(directory, Options());
        Update(environment, ++_version, 0, keys);
        using (ReadTransaction reading = environment.BeginRead())
        {
            int held = _version;
            long begun = Stopwatch.GetTimestamp();
            while (environment.GetStatistics().Rewrites < 2)
            {
                Update(environment, ++_version, 0, keys);
                Require(Stopwatch.GetElapsedTime(begun) < limit, $"nothing is rewritten in {limit.TotalSeconds} s");
            }
            Rewrites += environment.GetStatistics().Rewrites;
            Update(environment, ++_version, 0, keys);
            environment.Dispose();
            Require(Directory.GetFiles(directory, "rewrite-*").Length == 1, "there is not one rewrite file");
            CheckVersion(reading, held);
        }
        using StorageEnvironment again = StorageEnvironment.Open(directory, Options());
        using ReadTransaction now = again.BeginRead();
        CheckVersion(now, _version);
        RequireSound(again);
    }

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
        RequireSound(environment);
    }

    // Files come and go while they are counted: one that has gone has no bytes.
    private long JournalBytes()
    {
        long bytes = 0;
        foreach (FileInfo file in new DirectoryInfo(directory).GetFiles("journal*"))
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
        MaxGrowthBytes = 1 << 20,
        FlushRecords = form,
    };
}
