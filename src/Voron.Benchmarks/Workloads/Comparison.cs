using Voron.Benchmarks.Engines;

namespace Voron.Benchmarks.Workloads;

/// <summary>The engines and the workloads of a comparison. Goals and ratios are those of this project's engine.</summary>
/// <param name="Engines">The engines to compare.</param>
/// <param name="Steps">The workloads that each engine runs, in order.</param>
/// <param name="Rounds">How often each engine runs them.</param>
/// <param name="Limit">The time after which runs that can be cut short stop. Zero for no limit.</param>
internal sealed record Comparison(
    IReadOnlyList<EngineDescriptor> Engines, IReadOnlyList<Comparison.Step> Steps, int Rounds, TimeSpan Limit = default)
{
    private static readonly WorkloadDefinition[] JournalWorkloads =
        [WorkloadCatalog.SequentialInsert, WorkloadCatalog.RandomInsert, WorkloadCatalog.RandomUpdate];

    /// <summary>The engines to compare, followed by the journal variants that some steps add.</summary>
    public IEnumerable<EngineDescriptor> AllEngines => Engines.Concat(Variants);

    private IEnumerable<EngineDescriptor> Variants =>
        Engines.Any(engine => engine.Name == EngineCatalog.Voron)
            ? EngineCatalog.All.Where(engine => engine.IsJournalVariant && !Engines.Contains(engine))
            : [];

    /// <summary>Returns the installed engines of a step. Steps about journals add the variants with and without compression.</summary>
    public EngineDescriptor[] EnginesOf(Step step) =>
        [.. (IsAboutJournals(step) ? AllEngines : Engines).Where(engine => engine.IsInstalled())];

    /// <summary>Returns true if no later step needs this engine's store.</summary>
    public bool IsLastOfStore(Step step, EngineDescriptor engine) =>
        Steps.Last(other => other.Workload.Store == step.Workload.Store && EnginesOf(other).Contains(engine)) == step;

    private bool IsAboutJournals(Step step) =>
        JournalWorkloads.Contains(step.Workload)
        && Steps.Any(other => other.IsReported && other.Workload.Store == step.Workload.Store && JournalWorkloads.Contains(other.Workload));

    /// <param name="Workload">The workload to run.</param>
    /// <param name="Items">Items of the store.</param>
    /// <param name="Operations">Operations on it.</param>
    /// <param name="IsReported">False if the step only prepares for another one.</param>
    internal sealed record Step(WorkloadDefinition Workload, long Items, long Operations, bool IsReported);
}
