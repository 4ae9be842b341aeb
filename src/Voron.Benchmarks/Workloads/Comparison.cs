using Voron.Benchmarks.Engines;

namespace Voron.Benchmarks.Workloads;

/// <summary>What is to be compared; goals and ratios are of this project's engine.</summary>
internal sealed record Comparison(IReadOnlyList<EngineDescriptor> Engines, IReadOnlyList<Comparison.Step> Steps, int Rounds)
{
    /// <summary>Nothing after this step needs its store.</summary>
    public bool IsLastOfStore(Step step) => Steps.Last(other => other.Workload.Store == step.Workload.Store) == step;

    /// <param name="Workload">What is done.</param>
    /// <param name="Items">Items of the store.</param>
    /// <param name="Operations">Operations on it.</param>
    /// <param name="IsReported">False when it only makes the store that another one needs.</param>
    internal sealed record Step(WorkloadDefinition Workload, long Items, long Operations, bool IsReported);
}
