using Voron.Benchmarks.Engines;

namespace Voron.Benchmarks.Workloads;

/// <summary>What is to be compared; goals and ratios are of this project's engine.</summary>
/// <param name="Engines">Those that race against each other.</param>
/// <param name="Steps">What each of them does, in order.</param>
/// <param name="Rounds">How often.</param>
/// <param name="Limit">Time after which a run that can be cut short is; zero for never.</param>
internal sealed record Comparison(
    IReadOnlyList<EngineDescriptor> Engines, IReadOnlyList<Comparison.Step> Steps, int Rounds, TimeSpan Limit = default)
{
    private static readonly WorkloadDefinition[] JournalWorkloads =
        [WorkloadCatalog.SequentialInsert, WorkloadCatalog.RandomInsert, WorkloadCatalog.RandomUpdate];

    /// <summary>The racing engines and, behind them, the variants that some steps have besides.</summary>
    public IEnumerable<EngineDescriptor> AllEngines => Engines.Concat(Variants);

    private IEnumerable<EngineDescriptor> Variants =>
        Engines.Any(engine => engine.Name == EngineCatalog.Voron)
            ? EngineCatalog.All.Where(engine => engine.IsJournalVariant && !Engines.Contains(engine))
            : [];

    /// <summary>The installed engines of a step. Journals are looked at with and without compression.</summary>
    public EngineDescriptor[] EnginesOf(Step step) =>
        [.. (IsAboutJournals(step) ? AllEngines : Engines).Where(engine => engine.IsInstalled())];

    /// <summary>Nothing after this step needs the store that this engine has here.</summary>
    public bool IsLastOfStore(Step step, EngineDescriptor engine) =>
        Steps.Last(other => other.Workload.Store == step.Workload.Store && EnginesOf(other).Contains(engine)) == step;

    private bool IsAboutJournals(Step step) =>
        JournalWorkloads.Contains(step.Workload)
        && Steps.Any(other => other.IsReported && other.Workload.Store == step.Workload.Store && JournalWorkloads.Contains(other.Workload));

    /// <param name="Workload">What is done.</param>
    /// <param name="Items">Items of the store.</param>
    /// <param name="Operations">Operations on it.</param>
    /// <param name="IsReported">False when it only makes the store that another one needs.</param>
    internal sealed record Step(WorkloadDefinition Workload, long Items, long Operations, bool IsReported);
}
