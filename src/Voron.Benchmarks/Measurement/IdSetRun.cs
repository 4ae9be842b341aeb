using System.Diagnostics;
using System.Numerics;
using Voron.Benchmarks.Engines.IdSets;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Measurement;

/// <summary>One run of indexing documents by their words, in durable transactions, and of reading the sets.</summary>
/// <param name="Way">The engine and its way.</param>
/// <param name="Pairs">The number of pairs of word and document. The words of a document differ.</param>
/// <param name="AddNanoseconds">The time of adding a pair, with its share of the commit.</param>
/// <param name="WrittenBytes">The bytes that the process wrote for a pair, by whatever thread.</param>
/// <param name="BytesPerPair">The bytes in use for a pair, once everything has been written back.</param>
/// <param name="LargeSet">The number of ids of a set that has one in ten of as many ids as there are pairs.</param>
/// <param name="ReadNanoseconds">The time of reading an id of that set.</param>
/// <param name="SmallSet">The number of ids of a set that has one in a thousand.</param>
/// <param name="AndMilliseconds">The time of finding the ids that are in both sets.</param>
/// <param name="Checksum">Of all ids that were read.</param>
internal sealed record IdSetRun(
    string Way, long Pairs, double AddNanoseconds, double WrittenBytes, double BytesPerPair, int LargeSet, double ReadNanoseconds, int SmallSet,
    double AndMilliseconds, string Checksum) : ISetRun
{
    private const int DocumentsPerCommit = 1000;
    private const int WordsPerDocument = 10;
    private const int ReadBack = 2000;
    private const int IdsPerCommit = 100_000;
    private const double LargeShare = 0.1;
    private const double SmallShare = 0.001;
    private const ulong Multiplier = 0x9E37_79B9_7F4A_7C15;

    // No words, which have lower-case letters only.
    private static readonly byte[] LargeKey = [.. "1 in 10"u8];
    private static readonly byte[] SmallKey = [.. "1 in 1000"u8];

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
                var drawn = words.DrawDocuments(count, WordsPerDocument, HashCode.Combine(seed, from));
                var began = Stopwatch.GetTimestamp();
                store.BeginWrite();
                for (var i = 0; i < drawn.Length; i++)
                    store.Add(drawn[i], from + (i / WordsPerDocument));
                store.Commit();
                elapsed += Clock.Nanoseconds(began, Stopwatch.GetTimestamp());
                added += drawn.Length;
            }

            store.Settle();
            var work = new Work(added, elapsed / added, (ProcessWrites.Bytes() - before) / added, store.UsedBytes / (double)added);
            AddSet(store, LargeKey, pairs, LargeShare, seed);
            AddSet(store, SmallKey, pairs, SmallShare, seed + 1);
            store.Settle();
            return Read(store, way.Name, words, work);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    // The goals for reading are about sets of a million and of ten thousand ids. That of the most frequent word has every other document.
    private static void AddSet(IdSetStore store, byte[] key, long end, double share, int seed)
    {
        var random = new Random(seed);
        var added = 0;
        store.BeginWrite();
        for (var id = 0L; id < end; id++)
        {
            if (random.NextDouble() >= share)
                continue;
            store.Add(key, id);
            if (++added % IdsPerCommit != 0)
                continue;
            store.Commit();
            store.BeginWrite();
        }

        store.Commit();
    }

    private static IdSetRun Read(IdSetStore store, string name, WordStream words, Work work)
    {
        // The large set has about as many ids as there are documents, and those of words have fewer.
        var ids = new long[2 * work.Pairs / WordsPerDocument];
        var checksum = 0UL;
        foreach (var word in words.Each().AsSpan(0, ReadBack))
            checksum = AddTo(checksum, ids.AsSpan(0, store.Read(word, ids)));
        var large = store.Read(LargeKey, ids);
        checksum = AddTo(checksum, ids.AsSpan(0, large));
        var read = Repeated.Median(() => store.Read(LargeKey, ids));
        var small = store.Read(SmallKey, ids);
        checksum = AddTo(checksum, ids.AsSpan(0, small));
        var both = store.ReadBoth(LargeKey, SmallKey, ids);
        checksum = AddTo(checksum, ids.AsSpan(0, both));
        var and = Repeated.Median(() => store.ReadBoth(LargeKey, SmallKey, ids));
        return new IdSetRun(
            name, work.Pairs, work.AddNanoseconds, work.WrittenBytes, work.BytesPerPair, large, read / large, small, and / 1e6, $"{checksum:x16}");
    }

    private static ulong AddTo(ulong checksum, ReadOnlySpan<long> ids)
    {
        foreach (var id in ids)
            checksum = (BitOperations.RotateLeft(checksum, 5) ^ (ulong)id) * Multiplier;
        return checksum ^ (ulong)ids.Length;
    }

    private sealed record Work(long Pairs, double AddNanoseconds, double WrittenBytes, double BytesPerPair);
}
