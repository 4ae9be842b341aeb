namespace Voron.Benchmarks.Workloads;

/// <summary>One workload against one engine in one directory.</summary>
/// <param name="Engine">Name in the engine catalogue.</param>
/// <param name="Workload">What to do.</param>
/// <param name="Directory">The engine's own directory for the workload's store.</param>
/// <param name="Items">Items the store has, or gets.</param>
/// <param name="Operations">Puts, gets, or items to scan past; a scan starts over as often as needed.</param>
/// <param name="Round">Decides which items are touched, and the version of the values that an update writes.</param>
internal sealed record RunRequest(string Engine, WorkloadDefinition Workload, string Directory, long Items, long Operations, int Round)
{
    public long Transactions => Workload.ItemsPerTransaction == 0
        ? 1
        : (Operations + Workload.ItemsPerTransaction - 1) / Workload.ItemsPerTransaction;
}
