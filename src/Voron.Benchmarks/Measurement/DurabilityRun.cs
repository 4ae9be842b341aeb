using System.Buffers.Binary;

namespace Voron.Benchmarks.Measurement;

/// <summary>A way to acknowledge commits.</summary>
/// <param name="Lost">What a power failure may take of acknowledged commits.</param>
internal sealed record DurabilityWay(string Name, string Lost, int Callers, Func<string, BenchmarkEngine> Open);

/// <summary>One run of single puts over random keys of a small store, each in a commit or an operation of its own.</summary>
/// <param name="Lost">What a power failure may take of acknowledged commits.</param>
/// <param name="PutsPerSecond">The puts, with the time until the last is durable.</param>
internal sealed record DurabilityRun(string Way, string Lost, int Callers, double PutsPerSecond, LatencySummary Latency, double WrittenBytes)
{
    /// <summary>The way that others with as many callers are compared with.</summary>
    public const string Durable = "Voron, Durable";

    private const int Items = 100_000;
    private const int ValueBytes = 100;

    public static IReadOnlyList<DurabilityWay> Ways { get; } =
    [
        Ours(Durable, "nothing", 1, Durability.Durable),
        Ours("Voron, Lazy", "the last 100 ms", 1, Durability.Lazy),
        new("SQLite, WAL, FULL", "nothing", 1, directory => new SqliteEngine(directory)),
        new("SQLite, WAL, NORMAL", "all since the last checkpoint", 1, directory => new SqliteEngine(directory, "NORMAL")),
        Ours(Durable, "nothing", 64, Durability.Durable),
        Ours("Voron, Lazy", "the last 100 ms", 64, Durability.Lazy),
    ];

    /// <summary>Measures a way in a new store.</summary>
    public static async Task<DurabilityRun> MeasureAsync(DurabilityWay way, string directory, TimeSpan duration)
    {
        using var place = new WorkArea(directory);
        using (var filling = way.Open(place.Path))
        {
            filling.BeginWrite();
            for (var i = 0; i < Items; i++)
                filling.Put(Key(i), new byte[ValueBytes]);
            filling.Commit();
        }

        using var engine = way.Open(place.Path);
        Caller[] callers = [.. Enumerable.Range(0, way.Callers).Select(seed => new Caller(seed, duration))];
        var writtenBefore = ProcessWrites.Bytes();
        var began = Stopwatch.GetTimestamp();
        if (callers.Length == 1)
            Put(engine, callers[0]);
        else
            await Task.WhenAll(callers.Select(caller => Task.Run(() => PutAsync(engine.CreateCaller()!, caller)))).ConfigureAwait(false);

        // The last lazy commits count only when they are durable.
        engine.WaitForCommits();
        var elapsed = Stopwatch.GetElapsedTime(began);
        var written = ProcessWrites.Bytes() - writtenBefore;
        var all = new LatencyHistogram();
        foreach (var caller in callers)
            all.Add(caller.Latency);
        return new DurabilityRun(way.Name, way.Lost, way.Callers, all.Count / elapsed.TotalSeconds, all.Summarise()!, written / all.Count);
    }

    private static DurabilityWay Ours(string name, string lost, int callers, Durability durability) => new(
        name, lost, callers, directory => new VoronEngine(directory, new EngineObserver(), new StorageOptions { Durability = durability }));

    private static void Put(BenchmarkEngine engine, Caller caller)
    {
        while (caller.MoveNext())
        {
            engine.BeginWrite();
            engine.Put(caller.Key, caller.Value);
            engine.Commit();
            caller.End();
        }
    }

    private static async Task PutAsync(AsyncCaller engine, Caller caller)
    {
        while (caller.MoveNext())
        {
            await engine.PutAsync(caller.Key, caller.Value).ConfigureAwait(false);
            caller.End();
        }
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
        private readonly long _first = Stopwatch.GetTimestamp();
        private long _began;

        public byte[] Key { get; private set; } = [];
        public byte[] Value { get; } = new byte[ValueBytes];
        public LatencyHistogram Latency { get; } = new();

        public bool MoveNext()
        {
            Key = DurabilityRun.Key(_random.Next(Items));
            _random.NextBytes(Value);
            _began = Stopwatch.GetTimestamp();
            return Stopwatch.GetElapsedTime(_first, _began) < duration;
        }

        public void End() => Latency.Record(Clock.Nanoseconds(_began, Stopwatch.GetTimestamp()));
    }
}
