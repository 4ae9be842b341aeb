using System.Diagnostics.CodeAnalysis;
using BenchmarkDotNet.Attributes;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Processes;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Suites;

/// <summary>Gets of random keys from a store in memory: time and garbage of one get, and of a read transaction.</summary>
[MemoryDiagnoser]
[SuppressMessage("Design", "CA1001", Justification = "BenchmarkDotNet calls the cleanup, not Dispose.")]
public class RandomGetSuite
{
    private const int Items = 200_000;
    private const int GetsPerTransaction = 1_000;

    private readonly ItemBuffer _buffer = new(KeyOrder.Random, GetsPerTransaction, withValues: false);
    private WorkArea? _area;
    private BenchmarkEngine? _engine;
    private BenchmarkReader? _reader;

    /// <summary>Engines that are on this machine.</summary>
    public static IEnumerable<string> Engines => EngineCatalog.All.Where(engine => engine.IsInstalled()).Select(engine => engine.Name);

    [ParamsSource(nameof(Engines))]
    public string Engine { get; set; } = EngineCatalog.Lmdb;

    [GlobalSetup]
    public void Fill()
    {
        _area = new WorkArea(Directory.GetCurrentDirectory(), keep: false);
        WorkloadDefinition insert = WorkloadCatalog.RandomInsert with { ItemsPerTransaction = GetsPerTransaction };
        string path = _area.StorePath(Engine, insert.Store);
        Directory.CreateDirectory(path);
        _engine = EngineCatalog.Require(Engine).Open(path, new EngineObserver());
        var request = new RunRequest(Engine, insert, path, Items, Items, Round: 0);
        WorkloadLoops.Run(_engine, request, new TimedRun(new ProgressSignal(null)));
        _reader = _engine.CreateReader();
        for (int i = 0; i < GetsPerTransaction; i++)
            _buffer.SetKey(i, ItemGenerator.PickItem(i, round: 0, Items));
    }

    [GlobalCleanup]
    public void Remove()
    {
        _reader?.Dispose();
        _engine?.Dispose();
        _area?.Dispose();
    }

    [Benchmark(OperationsPerInvoke = GetsPerTransaction)]
    public long Get()
    {
        BenchmarkReader reader = _reader!;
        long bytes = 0;
        reader.Begin();
        for (int i = 0; i < GetsPerTransaction; i++)
        {
            if (reader.TryGet(_buffer.Key(i), out ReadOnlySpan<byte> value))
                bytes += value[0];
        }
        reader.End();
        return bytes;
    }

    [Benchmark]
    public void BeginAndEndRead()
    {
        _reader!.Begin();
        _reader.End();
    }
}
