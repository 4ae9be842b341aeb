using System.Diagnostics;
using System.Numerics;
using Voron.Benchmarks.Engines.IdSets;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Measurement;

/// <summary>One run of indexing documents by their words, in durable transactions, and of reading the sets.</summary>
/// <param name="Way">The engine and its way.</param>
/// <param name="Pairs">The number of pairs of word and document.</param>
/// <param name="AddNanoseconds">The time of adding a pair, with its share of the commit.</param>
/// <param name="WrittenBytes">The bytes that the process wrote for a pair, by whatever thread.</param>
/// <param name="BytesPerPair">The bytes in use for a pair, once everything has been written back.</param>
/// <param name="LargestSet">The number of ids of the most frequent word.</param>
/// <param name="ReadNanoseconds">The time of reading an id of that set.</param>
/// <param name="OtherSet">The number of ids of a word with about 10,000.</param>
/// <param name="AndMilliseconds">The time of finding the documents that have both words.</param>
/// <param name="Checksum">Of all ids that were read.</param>
internal sealed record IdSetRun(
    string Way, long Pairs, double AddNanoseconds, double WrittenBytes, double BytesPerPair, int LargestSet, double ReadNanoseconds, int OtherSet,
    double AndMilliseconds, string Checksum)
{
    private const int DocumentsPerCommit = 1000;
    private const int WordsPerDocument = 10;
    private const int Repetitions = 20;
    private const int ReadBack = 2000;
    private const ulong Multiplier = 0x9E37_79B9_7F4A_7C15;

    public static IdSetRun Measure(IdSetWay way, string directory, WordStream words, long pairs, int seed)
    {
        Directory.CreateDirectory(directory);
        try
        {
            using var store = way.Open(directory);
            var before = ProcessWrites.Bytes();
            var elapsed = 0.0;
            var documents = (int)(pairs / WordsPerDocument);
            var added = 0L;
            for (var from = 0; from < documents; from += DocumentsPerCommit)
            {
                // Drawing the words is no part of the work.
                var count = Math.Min(DocumentsPerCommit, documents - from);
                var drawn = words.Draw(count * WordsPerDocument, HashCode.Combine(seed, from));
                var began = Stopwatch.GetTimestamp();
                store.BeginWrite();
                for (var i = 0; i < drawn.Length; i++)
                    store.Add(drawn[i], from + (i / WordsPerDocument));
                store.Commit();
                elapsed += Clock.Nanoseconds(began, Stopwatch.GetTimestamp());
                added += drawn.Length;
            }

            store.Settle();
            var written = ProcessWrites.Bytes() - before;
            return Read(store, way.Name, words, documents, new Work(added, elapsed / added, written / added));
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    private static IdSetRun Read(IdSetStore store, string name, WordStream words, int documents, Work work)
    {
        var ids = new long[documents];
        var checksum = 0UL;
        foreach (var word in words.Each().AsSpan(0, ReadBack))
            checksum = AddTo(checksum, ids.AsSpan(0, store.Read(word, ids)));
        var common = words.OfRank(0);
        var rare = words.OfRank(100);
        var largest = store.Read(common, ids);
        checksum = AddTo(checksum, ids.AsSpan(0, largest));
        var read = MedianOf(() => store.Read(common, ids));
        var other = store.Read(rare, ids);
        var both = store.ReadBoth(common, rare, ids);
        checksum = AddTo(checksum, ids.AsSpan(0, both));
        var and = MedianOf(() => store.ReadBoth(common, rare, ids));
        return new IdSetRun(
            name, work.Pairs, work.AddNanoseconds, work.WrittenBytes, store.UsedBytes / (double)work.Pairs, largest, read / largest, other, and / 1e6,
            $"{checksum:x16}");
    }

    // The median of several, in nanoseconds.
    private static double MedianOf(Func<int> work)
    {
        var times = new double[Repetitions];
        for (var i = 0; i < Repetitions; i++)
        {
            var began = Stopwatch.GetTimestamp();
            _ = work();
            times[i] = Clock.Nanoseconds(began, Stopwatch.GetTimestamp());
        }

        return Reporting.Figures.Median(times);
    }

    private static ulong AddTo(ulong checksum, ReadOnlySpan<long> ids)
    {
        foreach (var id in ids)
            checksum = (BitOperations.RotateLeft(checksum, 5) ^ (ulong)id) * Multiplier;
        return checksum ^ (ulong)ids.Length;
    }

    private sealed record Work(long Pairs, double AddNanoseconds, double WrittenBytes);
}
