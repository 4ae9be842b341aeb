using Voron.Benchmarks.Engines;

namespace Voron.Benchmarks.Workloads;

/// <summary>What is to be compared; ratios are to the first engine.</summary>
internal sealed record Comparison(IReadOnlyList<EngineDescriptor> Engines, IReadOnlyList<Comparison.Step> Steps, int Rounds)
{
    /// <param name="Workload">What is done.</param>
    /// <param name="Items">Items of the store.</param>
    /// <param name="Operations">Operations on it.</param>
    /// <param name="IsReported">False when it only makes the store that another one needs.</param>
    internal sealed record Step(WorkloadDefinition Workload, long Items, long Operations, bool IsReported);
}
