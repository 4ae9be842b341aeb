using System.Diagnostics;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Torture.Bounds;

/// <summary>The parts that the cases share: a simulated disk, values, and waits that end.</summary>
internal sealed class BoundPlace(SuiteRun run)
{
    public const string DataFile = "voron.data";
    public static readonly TimeSpan Patience = HangLimit.OfSeconds(20);

    private const string TreeName = "items";

    public SuiteRun Run => run;

    public SimulatedDisk Disk { get; } = new();

    /// <summary>Returns options without engine threads, and with all but the largest values in the journal.</summary>
    public static StorageOptions Manual(long fileBytes = 64 << 10) => new()
    {
        BackgroundFlush = false,
        LargeValueBytes = 1 << 20,
        InitialJournalFileBytes = fileBytes,
        MaxJournalFileBytes = fileBytes,
        JournalCompression = JournalCompression.Never,
    };

    public static void Put(StorageEnvironment environment, int key, int bytes)
    {
        using var writing = environment.BeginWrite();
        Put(writing, key, bytes);
        writing.Commit();
    }

    public static void Put(WriteTransaction writing, int key, int bytes) => writing.CreateTree(TreeName).Put(Key(key), Value(key, bytes));

    public static void PutMany(StorageEnvironment environment, int count, int bytes, int seed)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree(TreeName);
        for (var i = 0; i < count; i++)
            tree.Put(Key(i), Value(seed + i, bytes));
        writing.Commit();
    }

    public static void DeleteAll(StorageEnvironment environment)
    {
        using var writing = environment.BeginWrite();
        writing.OpenTree(TreeName).DeleteRange(KeyRange.All);
        writing.Commit();
    }

    /// <summary>Leaves the files as a killed process would leave them.</summary>
    public static void Kill(StorageEnvironment environment)
    {
        environment.Internals.Engine.Poison.Set(new InvalidOperationException("killed"));
        environment.Dispose();
    }

    public static void WaitUntilFlushed(StorageEnvironment environment, string what)
    {
        var start = Stopwatch.GetTimestamp();
        while (environment.GetStatistics() is var now && now.CheckpointTransactionId != now.PublishedTransactionId)
        {
            BrokenPromiseException.Require(
                Stopwatch.GetElapsedTime(start) < Patience,
                $"{what}: transaction {now.CheckpointTransactionId} of {now.PublishedTransactionId} is flushed after {Patience.TotalSeconds} s.");
            Thread.Sleep(1);
        }
    }

    public static void ShouldBeSound(StorageEnvironment environment)
    {
        var report = environment.Verify();
        BrokenPromiseException.Require(report.IsSound, report.ToString());
    }

    private static byte[] Key(int key) => [(byte)(key >> 16), (byte)(key >> 8), (byte)key];

    private static byte[] Value(int seed, int bytes) => SeededBytes.Make(seed, bytes);
}
