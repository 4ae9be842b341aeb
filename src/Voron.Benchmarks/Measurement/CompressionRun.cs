using System.Diagnostics;
using System.Text.Json;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Measurement;

/// <summary>What compressed values cost and save: puts, leaves, gets, and the training of a dictionary.</summary>
internal sealed record CompressionRun(string Way, int Round, int Records, double AverageBytes)
{
    public const string Plain = "none";

    private const string TreeName = "records";
    private const int PutsPerCommit = 1000;
    private const int Gets = 200_000;
    private const int GetsPerTransaction = 1000;
    private const int Seed = 5;

    public static readonly string[] Ways = [Plain, nameof(ValueCompression.Fast), nameof(ValueCompression.Thorough)];

    public double TrainMilliseconds { get; private init; }

    public double PutMicroseconds { get; private init; }

    public double RecordsPerLeaf { get; private init; }

    public double PagesBytes { get; private init; }

    public double GetNanoseconds { get; private init; }

    public double GetManagedBytes { get; private init; }

    /// <summary>Of all values that the gets returned, each read as a whole.</summary>
    public ulong Checksum { get; private init; }

    /// <summary>Reads records that are divided by empty lines, as <c>apt-cache dumpavail</c> writes them.</summary>
    public static byte[][] Read(string file) => [.. File.ReadAllText(file).Split("\n\n", StringSplitOptions.RemoveEmptyEntries)
        .Select(System.Text.Encoding.UTF8.GetBytes)];

    /// <summary>Makes records of packages, as JSON.</summary>
    public static byte[][] Make(int count) =>
        [.. new PackageGenerator().Make(0, count).Select(package => JsonSerializer.SerializeToUtf8Bytes(package))];

    public static CompressionRun Measure(string place, string way, byte[][] records, int round)
    {
        if (Directory.Exists(place))
            Directory.Delete(place, recursive: true);
        using var environment = StorageEnvironment.Open(place, new StorageOptions { BackgroundFlush = false });
        environment.Write(writing => writing.CreateTree(TreeName));
        var training = way == Plain ? 0 : Train(environment, Enum.Parse<ValueCompression>(way), records);
        var began = Stopwatch.GetTimestamp();
        Put(environment, records);
        var puts = Stopwatch.GetElapsedTime(began);
        environment.Flush();
        TreeStatistics statistics;
        using (var reading = environment.BeginRead())
            statistics = reading.OpenTree(TreeName).GetStatistics();
        _ = Get(environment, records, Gets / 10);
        var managed = GC.GetTotalAllocatedBytes(precise: true);
        began = Stopwatch.GetTimestamp();
        var sum = Get(environment, records, Gets);
        var gets = Stopwatch.GetElapsedTime(began);
        return new CompressionRun(way, round, records.Length, records.Average(record => record.Length))
        {
            TrainMilliseconds = training,
            PutMicroseconds = puts.TotalMicroseconds / records.Length,
            RecordsPerLeaf = (double)statistics.Entries / statistics.LeafPages,
            PagesBytes = 4096.0 * (statistics.LeafPages + statistics.OverflowPages) / statistics.Entries,
            GetNanoseconds = gets.TotalNanoseconds / Gets,
            GetManagedBytes = (double)(GC.GetTotalAllocatedBytes(precise: true) - managed) / Gets,
            Checksum = sum,
        };
    }

    // With the records of a part of the tree, which exist from the training on as they will be in a program.
    private static double Train(StorageEnvironment environment, ValueCompression compression, byte[][] records)
    {
        environment.Write(writing => writing.CompressValues(TreeName, compression));
        Put(environment, records[..Math.Max(1, records.Length / 5)]);
        var began = Stopwatch.GetTimestamp();
        var isTrained = environment.TrainDictionaryAsync(TreeName).AsTask().GetAwaiter().GetResult();
        var milliseconds = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        if (!isTrained)
            throw new BenchmarkException("No dictionary was trained: the records have too little in common.");
        environment.Write(writing => writing.OpenTree(TreeName).Clear());
        return milliseconds;
    }

    private static void Put(StorageEnvironment environment, byte[][] records)
    {
        for (var from = 0; from < records.Length; from += PutsPerCommit)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.OpenTree(TreeName);
            for (var i = from; i < Math.Min(records.Length, from + PutsPerCommit); i++)
                tree.Put(BitConverter.GetBytes(System.Net.IPAddress.HostToNetworkOrder(i)), records[i]);
            writing.Commit();
        }
    }

    // Reads the values: a plain one that is found has not come from memory yet, while one that was compressed has.
    private static ulong Get(StorageEnvironment environment, byte[][] records, int count)
    {
        ContentChecksum sum = default;
        var random = new Random(Seed);
        Span<byte> key = stackalloc byte[sizeof(int)];
        for (var from = 0; from < count; from += GetsPerTransaction)
        {
            using var reading = environment.BeginRead();
            var tree = reading.OpenTree(TreeName);
            for (var i = 0; i < GetsPerTransaction; i++)
            {
                var number = random.Next(records.Length);
                System.Buffers.Binary.BinaryPrimitives.WriteInt32BigEndian(key, number);
                if (!tree.TryGet(key, out var value) || value.Length != records[number].Length)
                    throw new BenchmarkException($"Record {number} is not as it was written.");
                sum.AddWhole(value);
            }
        }

        return sum.Sum;
    }
}
