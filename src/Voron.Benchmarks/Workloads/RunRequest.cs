namespace Voron.Benchmarks.Workloads;

/// <summary>One workload on one engine in one directory.</summary>
/// <param name="Engine">The engine's name in the catalogue.</param>
/// <param name="Workload">The workload to run.</param>
/// <param name="Directory">The engine's own directory for the workload's store.</param>
/// <param name="Items">The number of items in the store, after an insert.</param>
/// <param name="Operations">The number of puts, gets, or scanned items. A scan starts over as often as needed.</param>
/// <param name="Round">Decides which items are touched, and the version of the values that an update writes.</param>
internal sealed record RunRequest(string Engine, WorkloadDefinition Workload, string Directory, long Items, long Operations, int Round)
{
    /// <summary>The time after which reads, scans and concurrent callers stop. Zero for no limit.</summary>
    public TimeSpan Limit { get; init; }

    /// <summary>False if a workload of the first second continues behind its last slice, up to its last operation.</summary>
    public bool StopsAfterLastSlice { get; init; } = true;

    /// <summary>False if the store is too large to be scanned before and after the run.</summary>
    public bool ChecksStore { get; init; } = true;

    public long Transactions => Workload.ItemsPerTransaction == 0
        ? 1
        : (Operations + Workload.ItemsPerTransaction - 1) / Workload.ItemsPerTransaction;
}
