using System.Diagnostics;
using Voron.Benchmarks.Engines.Counters;

namespace Voron.Benchmarks.Measurement;

/// <summary>One run of counting words in durable transactions.</summary>
/// <param name="Way">The engine and its call.</param>
/// <param name="IncrementsPerCommit">The increments of a transaction.</param>
/// <param name="Nanoseconds">The time of an increment, with its share of the commit.</param>
/// <param name="RecordBytes">The bytes of transaction records for an increment, if the engine reports them.</param>
/// <param name="WrittenBytes">The bytes that the process wrote for an increment, by whatever thread.</param>
/// <param name="ScanMilliseconds">The time of reading all counters afterwards, which for some engines is when they add up.</param>
/// <param name="Checksum">Of all counters.</param>
internal sealed record CounterRun(
    string Way, int IncrementsPerCommit, double Nanoseconds, double? RecordBytes, double WrittenBytes, double ScanMilliseconds, string Checksum)
{
    private const int LoadedPerCommit = 10_000;

    /// <summary>Counts in a new store that has every word once.</summary>
    public static CounterRun Measure(CounterWay way, string directory, byte[][] each, byte[][] words, int perCommit)
    {
        Directory.CreateDirectory(directory);
        try
        {
            using var store = way.Open(directory);
            Count(store, each, LoadedPerCommit);
            store.Settle();
            var recordsBefore = store.RecordBytes;
            var writtenBefore = ProcessWrites.Bytes();
            var began = Stopwatch.GetTimestamp();
            Count(store, words, perCommit);
            var nanoseconds = Clock.Nanoseconds(began, Stopwatch.GetTimestamp());
            var written = ProcessWrites.Bytes() - writtenBefore;
            var records = store.RecordBytes - recordsBefore;
            began = Stopwatch.GetTimestamp();
            var checksum = store.ReadAll();
            var scan = Clock.Nanoseconds(began, Stopwatch.GetTimestamp());
            double count = words.Length;
            return new CounterRun(way.Name, perCommit, nanoseconds / count, records / count, written / count, scan / 1e6, $"{checksum:x16}");
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    private static void Count(CounterStore store, byte[][] words, int perCommit)
    {
        for (var from = 0; from < words.Length; from += perCommit)
        {
            store.BeginWrite();
            foreach (var word in words.AsSpan(from, Math.Min(perCommit, words.Length - from)))
                store.Increment(word);
            store.Commit();
        }
    }
}
