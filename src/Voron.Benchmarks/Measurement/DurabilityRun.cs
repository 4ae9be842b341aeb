using System.Buffers.Binary;
using System.Diagnostics;
using Voron.Benchmarks.Engines;

namespace Voron.Benchmarks.Measurement;

/// <summary>A way to acknowledge commits.</summary>
/// <param name="Name">The engine and its setting.</param>
/// <param name="Lost">What a power failure may take of acknowledged commits.</param>
/// <param name="Durability">The setting of Voron; null for SQLite.</param>
/// <param name="Callers">The number of concurrent callers.</param>
internal sealed record DurabilityWay(string Name, string Lost, Durability? Durability, int Callers = 1)
{
    /// <summary>The setting of SQLite.</summary>
    public string? Synchronous { get; init; }
}

/// <summary>One run of single puts over random keys of a small store, each in a commit or an operation of its own.</summary>
/// <param name="Way">The name of the way.</param>
/// <param name="Lost">What a power failure may take of acknowledged commits.</param>
/// <param name="Callers">The number of concurrent callers.</param>
/// <param name="PutsPerSecond">The puts, with the time until the last is durable.</param>
/// <param name="Latency">The time of a call.</param>
/// <param name="WrittenBytes">The bytes that the process wrote for a put.</param>
internal sealed record DurabilityRun(
    string Way, string Lost, int Callers, double PutsPerSecond, LatencySummary Latency, double WrittenBytes)
{
    private const int Items = 100_000;
    private const int ValueBytes = 100;

    /// <summary>All ways. A lazy one is listed beside the durable one that it is compared with.</summary>
    public static IReadOnlyList<DurabilityWay> Ways { get; } =
    [
        new("Voron, Durable", "nothing", Durability.Durable),
        new("Voron, Lazy", "the last 100 ms", Durability.Lazy),
        new("SQLite, WAL, FULL", "nothing", null) { Synchronous = "FULL" },
        new("SQLite, WAL, NORMAL", "all since the last checkpoint", null) { Synchronous = "NORMAL" },
        new("Voron, Durable", "nothing", Durability.Durable, 64),
        new("Voron, Lazy", "the last 100 ms", Durability.Lazy, 64),
    ];

    /// <summary>Measures a way in a new store.</summary>
    /// <param name="way">The way.</param>
    /// <param name="directory">A directory that does not exist, and is deleted.</param>
    /// <param name="duration">The time to put.</param>
    public static async Task<DurabilityRun> MeasureAsync(DurabilityWay way, string directory, TimeSpan duration)
    {
        Directory.CreateDirectory(directory);
        try
        {
            return way.Durability is { } durability
                ? await MeasureVoronAsync(way, directory, durability, duration).ConfigureAwait(false)
                : MeasureSqlite(way, directory, duration);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    private static DurabilityRun MeasureSqlite(DurabilityWay way, string directory, TimeSpan duration)
    {
        using var engine = new SqliteEngine(directory, way.Synchronous!);
        engine.BeginWrite();
        for (var i = 0; i < Items; i++)
            engine.Put(Key(i), new byte[ValueBytes]);
        engine.Commit();
        var caller = new Caller(0, duration);
        var written = ProcessWrites.Bytes();
        while (caller.TryNext(out var key, out var value))
        {
            engine.BeginWrite();
            engine.Put(key, value);
            engine.Commit();
            caller.End();
        }

        return Result(way, [caller], caller.Elapsed, written);
    }

    private static async Task<DurabilityRun> MeasureVoronAsync(DurabilityWay way, string directory, Durability durability, TimeSpan duration)
    {
        using var environment = StorageEnvironment.Open(directory, new StorageOptions { Durability = durability });
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("items");
            for (var i = 0; i < Items; i++)
                tree.Put(Key(i), new byte[ValueBytes]);
            writing.Commit();
        }

        environment.Flush();
        Caller[] callers = [.. Enumerable.Range(0, way.Callers).Select(seed => new Caller(seed, duration))];
        var written = ProcessWrites.Bytes();
        var began = Stopwatch.GetTimestamp();
        if (callers.Length == 1)
            Put(environment, callers[0]);
        else
            await Task.WhenAll(callers.Select(caller => Task.Run(() => PutAsync(environment, caller)))).ConfigureAwait(false);

        // The last lazy commits count only when they are durable.
        using (var writing = environment.BeginWrite())
        {
            writing.Durability = Durability.Durable;
            writing.Commit();
        }

        return Result(way, callers, Stopwatch.GetElapsedTime(began), written);
    }

    private static void Put(StorageEnvironment environment, Caller caller)
    {
        while (caller.TryNext(out var key, out var value))
        {
            using (var writing = environment.BeginWrite())
            {
                writing.OpenTree("items").Put(key, value);
                writing.Commit();
            }

            caller.End();
        }
    }

    private static async Task PutAsync(StorageEnvironment environment, Caller caller)
    {
        while (caller.TryNext(out var key, out var value))
        {
            await environment.WriteAsync((key, value), static (writing, item) => writing.OpenTree("items").Put(item.key, item.value)).ConfigureAwait(false);
            caller.End();
        }
    }

    private static DurabilityRun Result(DurabilityWay way, Caller[] callers, TimeSpan elapsed, double writtenBefore)
    {
        var written = ProcessWrites.Bytes() - writtenBefore;
        var all = new LatencyHistogram();
        foreach (var caller in callers)
            all.Add(caller.Latency);
        return new DurabilityRun(
            way.Name, way.Lost, way.Callers, all.Count / elapsed.TotalSeconds, all.Summarise()!, written / all.Count);
    }

    private static byte[] Key(int item)
    {
        var key = new byte[16];
        BinaryPrimitives.WriteUInt64BigEndian(key, (ulong)item * 0x9E37_79B9_7F4A_7C15);
        return key;
    }

    private sealed class Caller(int seed, TimeSpan duration)
    {
        private readonly Random _random = new(seed);
        private readonly byte[] _value = new byte[ValueBytes];
        private readonly long _first = Stopwatch.GetTimestamp();
        private long _began;

        public LatencyHistogram Latency { get; } = new();

        public TimeSpan Elapsed => Stopwatch.GetElapsedTime(_first);

        public bool TryNext(out byte[] key, out byte[] value)
        {
            key = Key(_random.Next(Items));
            _random.NextBytes(_value);
            value = _value;
            _began = Stopwatch.GetTimestamp();
            return Stopwatch.GetElapsedTime(_first, _began) < duration;
        }

        public void End() => Latency.Record((long)Clock.Nanoseconds(_began, Stopwatch.GetTimestamp()));
    }
}
