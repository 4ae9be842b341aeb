using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Voron.Benchmarks.Measurement;

/// <summary>Entries of 8 + 8 bytes in a fixed-size tree or in an ordinary one.</summary>
/// <param name="Tree">The kind of the tree.</param>
/// <param name="PerCommit">The entries of a durable transaction.</param>
/// <param name="PutNanoseconds">The time of a put in ascending order, with its share of the commit.</param>
/// <param name="RandomNanoseconds">The time of a put in random order, with its share of the commit.</param>
/// <param name="GetNanoseconds">The time of a lookup of a random key.</param>
/// <param name="RecordBytes">The bytes of transaction records for an entry put in ascending order.</param>
/// <param name="BytesPerEntry">The bytes of the pages of the tree for an entry that was put in ascending order.</param>
/// <param name="Checksum">Of the values that were looked up.</param>
internal sealed record FixedTreeRun(
    string Tree, int PerCommit, double PutNanoseconds, double RandomNanoseconds, double GetNanoseconds, double RecordBytes, double BytesPerEntry,
    long Checksum)
{
    public const string Fixed = "fixed-size tree";
    public const string Plain = "tree of keys and values";

    private const string Name = "numbers";
    private const int Lookups = 1_000_000;

    public static FixedTreeRun Measure(string directory, bool isFixed, int entries, int perCommit, int seed)
    {
        var keys = new long[entries];
        for (var i = 0; i < entries; i++)
            keys[i] = i + 1;
        var shuffled = (long[])keys.Clone();
        new Random(seed).Shuffle(shuffled);
        var ascending = Put(directory, isFixed, keys, perCommit, shuffled);
        var random = Put(directory, isFixed, shuffled, perCommit, shuffled);
        return new FixedTreeRun(
            isFixed ? Fixed : Plain, perCommit, ascending.Nanoseconds, random.Nanoseconds, ascending.GetNanoseconds, ascending.RecordBytes,
            ascending.BytesPerEntry, ascending.Checksum);
    }

    private static Filled Put(string directory, bool isFixed, long[] keys, int perCommit, long[] lookups)
    {
        Directory.CreateDirectory(directory);
        try
        {
            using var environment = StorageEnvironment.Open(directory);
            var began = Stopwatch.GetTimestamp();
            for (var from = 0; from < keys.Length; from += perCommit)
            {
                using var writing = environment.BeginWrite();
                var some = keys.AsSpan(from, Math.Min(perCommit, keys.Length - from));
                if (isFixed)
                    PutFixed(writing, some);
                else
                    PutPlain(writing, some);
                writing.Commit();
            }

            var nanoseconds = Clock.Nanoseconds(began, Stopwatch.GetTimestamp()) / (double)keys.Length;
            var records = environment.GetStatistics().JournalTransactionBytes / (double)keys.Length;
            environment.Flush();
            var count = Math.Min(Lookups, lookups.Length);
            using var reading = environment.BeginRead();
            began = Stopwatch.GetTimestamp();
            var checksum = isFixed ? GetFixed(reading, lookups.AsSpan(0, count)) : GetPlain(reading, lookups.AsSpan(0, count));
            var get = Clock.Nanoseconds(began, Stopwatch.GetTimestamp()) / (double)count;
            var statistics = isFixed ? reading.OpenFixedTree(Name).GetStatistics() : reading.OpenTree(Name).GetStatistics();
            var bytes = (statistics.LeafPages + statistics.BranchPages) * (double)environment.GetStatistics().PageSize / keys.Length;
            return new Filled(nanoseconds, records, get, bytes, checksum);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    private static void PutFixed(WriteTransaction writing, ReadOnlySpan<long> keys)
    {
        var tree = writing.CreateFixedTree(Name, sizeof(long));
        foreach (var key in keys)
            tree.Put(key, MemoryMarshal.AsBytes(new ReadOnlySpan<long>(in key)));
    }

    private static void PutPlain(WriteTransaction writing, ReadOnlySpan<long> keys)
    {
        var tree = writing.CreateTree(Name);
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        foreach (var key in keys)
        {
            BinaryPrimitives.WriteInt64BigEndian(bytes, key);
            tree.Put(bytes, MemoryMarshal.AsBytes(new ReadOnlySpan<long>(in key)));
        }
    }

    private static long GetFixed(ReadTransaction reading, ReadOnlySpan<long> keys)
    {
        var tree = reading.OpenFixedTree(Name);
        var sum = 0L;
        foreach (var key in keys)
            sum += tree.TryGet(key, out var value) ? BinaryPrimitives.ReadInt64LittleEndian(value) : throw Missing(key);
        return sum;
    }

    private static long GetPlain(ReadTransaction reading, ReadOnlySpan<long> keys)
    {
        var tree = reading.OpenTree(Name);
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        var sum = 0L;
        foreach (var key in keys)
        {
            BinaryPrimitives.WriteInt64BigEndian(bytes, key);
            sum += tree.TryGet(bytes, out var value) ? BinaryPrimitives.ReadInt64LittleEndian(value) : throw Missing(key);
        }

        return sum;
    }

    private static BenchmarkException Missing(long key) => new($"Key {key} is missing.");

    private sealed record Filled(double Nanoseconds, double RecordBytes, double GetNanoseconds, double BytesPerEntry, long Checksum);
}
