using System.Diagnostics;
using System.Globalization;
using System.Text;
using Voron.Benchmarks.Engines.ValueSets;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Measurement;

/// <summary>One run of adding the names of documents to the sets of their words, in durable transactions, and of reading the sets.</summary>
/// <param name="Way">The engine and its way.</param>
/// <param name="Pairs">The number of pairs of word and name. The words of a document differ.</param>
/// <param name="AddNanoseconds">The time of adding a pair, with its share of the commit.</param>
/// <param name="WrittenBytes">The bytes that the process wrote for a pair, by whatever thread.</param>
/// <param name="BytesPerPair">The bytes in use for a pair, once everything has been written back.</param>
/// <param name="LargeSet">The number of values of the largest set.</param>
/// <param name="ReadNanoseconds">The time of reading a value of that set, in order.</param>
/// <param name="LookupNanoseconds">The time of finding out whether a set has a value; half of those asked for exist.</param>
/// <param name="Checksum">Of all values that were read.</param>
internal sealed record ValueSetRun(
    string Way, long Pairs, double AddNanoseconds, double WrittenBytes, double BytesPerPair, int LargeSet, double ReadNanoseconds,
    double LookupNanoseconds, string Checksum) : ISetRun
{
    private const int DocumentsPerCommit = 1000;
    private const int WordsPerDocument = 10;
    private const int Lookups = 100_000;
    private const int ReadBack = 2000;

    /// <summary>An odd number: documents that follow each other have names far apart.</summary>
    private const uint Scatter = 0x9E37_79B1;

    public static ValueSetRun Measure(ValueSetWay way, string directory, WordStream words, long pairs, int seed)
    {
        Directory.CreateDirectory(directory);
        try
        {
            using var store = way.Open(directory);
            var before = ProcessWrites.Bytes();
            var elapsed = 0.0;
            var added = 0L;
            var largest = Array.Empty<byte>();
            var documents = (int)(pairs / WordsPerDocument);
            for (var from = 0; from < documents; from += DocumentsPerCommit)
            {
                // Drawing the words is no part of the work.
                var drawn = DrawWords(words, from, documents, seed);
                var names = Enumerable.Range(from, drawn.Length / WordsPerDocument).Select(NameOf).ToArray();
                if (from == 0)
                    largest = drawn.GroupBy(word => word).MaxBy(group => group.Count())!.Key;
                var began = Stopwatch.GetTimestamp();
                store.BeginWrite();
                for (var i = 0; i < drawn.Length; i++)
                    store.Add(drawn[i], names[i / WordsPerDocument]);
                store.Commit();
                elapsed += Clock.Nanoseconds(began, Stopwatch.GetTimestamp());
                added += drawn.Length;
            }

            store.Settle();
            var written = (ProcessWrites.Bytes() - before) / added;
            var checksum = 0UL;
            foreach (var word in words.Each().AsSpan(0, ReadBack))
                _ = store.Read(word, ref checksum);
            var count = store.Read(largest, ref checksum);
            var ignored = 0UL;
            var read = Repeated.Median(() => store.Read(largest, ref ignored)) / count;
            var asked = DrawLookups(words, documents, seed);
            checksum += (ulong)store.CountKnown(asked);
            var lookup = Repeated.Median(() => store.CountKnown(asked)) / asked.Length;
            return new ValueSetRun(
                way.Name, added, elapsed / added, written, store.UsedBytes / (double)added, count, read, lookup, $"{checksum:x16}");
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    private static byte[][] DrawWords(WordStream words, int from, int documents, int seed) =>
        words.DrawDocuments(Math.Min(DocumentsPerCommit, documents - from), WordsPerDocument, HashCode.Combine(seed, from));

    private static byte[] NameOf(int document) =>
        Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{unchecked((uint)document * Scatter):x8}-{document}"));

    // Every other one is a word of the document, and the rest are those of its neighbour, which rarely has the same.
    private static (byte[] Word, byte[] Value)[] DrawLookups(WordStream words, int documents, int seed)
    {
        var random = new Random(seed);
        var asked = new List<(byte[], byte[])>();
        while (asked.Count < Lookups)
        {
            var from = random.Next(documents / DocumentsPerCommit + 1) * DocumentsPerCommit;
            if (from >= documents)
                continue;
            var drawn = DrawWords(words, from, documents, seed);
            for (var i = 0; i < Math.Min(1000, Lookups) && asked.Count < Lookups; i++)
            {
                var at = random.Next(drawn.Length);
                var document = from + (at / WordsPerDocument);
                asked.Add((drawn[at], NameOf(i % 2 == 0 ? document : document + 1)));
            }
        }

        return [.. asked];
    }
}
