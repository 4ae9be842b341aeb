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
    /// <summary>Time after which reads, scans and concurrent callers stop; zero for never.</summary>
    public TimeSpan Limit { get; init; }

    /// <summary>False where the store is too large to be read through before and after.</summary>
    public bool ChecksStore { get; init; } = true;

    public long Transactions => Workload.ItemsPerTransaction == 0
        ? 1
        : (Operations + Workload.ItemsPerTransaction - 1) / Workload.ItemsPerTransaction;
}
