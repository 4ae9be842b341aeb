using System.Diagnostics.CodeAnalysis;
using BenchmarkDotNet.Attributes;
using BenchmarkDotNet.Engines;

namespace Voron.Benchmarks.Suites;

/// <summary>Whole workloads on each engine of this machine. Each run has its own store, filled beforehand.</summary>
[MemoryDiagnoser]
[SuppressMessage("Design", "CA1001", Justification = "BenchmarkDotNet calls the cleanup, not Dispose.")]
[SimpleJob(RunStrategy.Monitoring, launchCount: 1, warmupCount: 1, iterationCount: 5)]
public class WorkloadSuite
{
    private const long Items = 100_000;

    private WorkArea? _area;
    private BenchmarkEngine? _engine;
    private RunRequest? _request;

    /// <summary>The engines that are installed on this machine.</summary>
    public static IEnumerable<string> Engines => EngineCatalog.All.Where(engine => engine.IsInstalled()).Select(engine => engine.Name);

    public static IEnumerable<string> Workloads { get; } =
        [.. new[]
        {
            WorkloadCatalog.SequentialInsert, WorkloadCatalog.RandomInsert, WorkloadCatalog.RandomUpdate, WorkloadCatalog.RandomRead,
            WorkloadCatalog.ScanForward, WorkloadCatalog.ScanBackward,
        }.Select(workload => workload.Name)];

    [ParamsSource(nameof(Engines))]
    public string Engine { get; set; } = EngineCatalog.Voron;

    [ParamsSource(nameof(Workloads))]
    public string Workload { get; set; } = WorkloadCatalog.RandomInsert.Name;

    [IterationSetup]
    public void Open()
    {
        var workload = WorkloadCatalog.Find(Workload);
        _area = new WorkArea(Directory.GetCurrentDirectory());
        var path = _area.StorePath(Engine, workload.Store);
        Directory.CreateDirectory(path);
        _engine = EngineCatalog.Require(Engine).Open(path, new EngineObserver());
        _request = new RunRequest(Engine, workload, path, Items, Items, Round: 0);
        if (!workload.CreatesStore)
            WorkloadLoops.Run(_engine, _request with { Workload = WorkloadCatalog.CreatorOf(workload) }, NewRun());
    }

    [IterationCleanup]
    public void Remove()
    {
        _engine?.Dispose();
        _area?.Dispose();
    }

    [Benchmark(OperationsPerInvoke = (int)Items)]
    public void Run() => WorkloadLoops.Run(_engine!, _request!, NewRun());

    private static TimedRun NewRun() => new(new ProgressSignal(null));
}
