namespace Voron.Benchmarks.Workloads;

internal enum WorkloadKind
{
    Insert,

    /// <summary>Inserts by many callers, each of which waits for its own durable put.</summary>
    ConcurrentInsert,
    Update,

    /// <summary>Deletes every item with an even number. In key order, these are spread over the whole store.</summary>
    DeleteHalf,

    /// <summary>Inserts the items again that <see cref="DeleteHalf"/> deleted.</summary>
    InsertAgain,
    Get,
    GetInOrder,

    /// <summary>All gets of a transaction in one call.</summary>
    GetMany,
    ScanForward,
    ScanBackward,

    /// <summary>One thread updates while another gets, for a time. Operations are milliseconds.</summary>
    UpdateWhileReading,

    /// <summary>From the call that opens the store to the end of the first get.</summary>
    Open,
}

/// <summary>
/// A workload. Workloads with the same <see cref="Store"/> share a directory: an insert creates it, and the others use the store that
/// the insert left.
/// </summary>
/// <param name="Name">The name on the command line.</param>
/// <param name="Store">The name of the store's directory.</param>
/// <param name="ItemsPerTransaction">Puts in a write transaction, gets in a read transaction.</param>
/// <param name="Title">The name in tables.</param>
internal sealed record WorkloadDefinition(string Name, WorkloadKind Kind, KeyOrder Keys, string Store, int ItemsPerTransaction, string Title)
{
    /// <summary>Every workload keeps at least one full transaction.</summary>
    private const long SmallestCount = 1_000;

    /// <summary>With large items, fewer of them make a workload long enough.</summary>
    private const long SmallestBytes = 64 << 20;

    public int ValueBytes { get; init; } = ItemGenerator.ValueBytes;

    /// <summary>Reading threads, or callers of a <see cref="WorkloadKind.ConcurrentInsert"/>.</summary>
    public int Callers { get; init; } = 1;

    /// <summary>True if keys come in order and the engine can use its call for sorted input.</summary>
    public bool IsSortedInput { get; init; }

    /// <summary>
    /// True to load by the engine's own means for many entries, if it has any. Nothing need be durable before the end, and the end is measured too.
    /// </summary>
    public bool IsLoad { get; init; }

    /// <summary>True if the process ends by a signal with the store open.</summary>
    public bool EndsInCrash { get; init; }

    /// <summary>True to measure the first second of a process that has not warmed up; such a run lasts for a time.</summary>
    public bool IsFirstSecond { get; init; }

    public bool CreatesStore => Kind is WorkloadKind.Insert or WorkloadKind.ConcurrentInsert;

    public bool Writes => CreatesStore
        || Kind is WorkloadKind.Update or WorkloadKind.DeleteHalf or WorkloadKind.InsertAgain or WorkloadKind.UpdateWhileReading;

    /// <summary>True if the values that the workload leaves differ between engines, because it lasts for a time. The keys are the same.</summary>
    public bool LeavesOwnValues => Kind == WorkloadKind.UpdateWhileReading || (IsFirstSecond && Kind == WorkloadKind.Update);

    public long ItemsBefore(long items) => Kind == WorkloadKind.InsertAgain ? items - EvenItems(items) : CreatesStore ? 0 : items;

    public long ItemsAfter(long items) => Kind == WorkloadKind.DeleteHalf ? items - EvenItems(items) : items;

    /// <summary>Returns the number of even numbers below <paramref name="items"/>.</summary>
    public static long EvenItems(long items) => (items + 1) / 2;

    /// <summary>Multiplies a count, and leaves enough of it.</summary>
    public static long Scale(long count, double scale, int itemBytes = 1)
    {
        var smallest = Math.Min(SmallestCount, (SmallestBytes + itemBytes - 1) / itemBytes);
        return Math.Max(Math.Min(count, smallest), (long)(count * scale));
    }
}

/// <summary>One workload on one engine in one directory.</summary>
/// <param name="Directory">The engine's own directory for the workload's store.</param>
/// <param name="Operations">The number of puts, gets, or scanned items. A scan starts over as often as needed.</param>
/// <param name="Round">Decides which items are touched, and the version of the values that an update writes.</param>
internal sealed record RunRequest(string Engine, WorkloadDefinition Workload, string Directory, long Items, long Operations, int Round)
{
    /// <summary>The time after which reads, scans and concurrent callers stop. Zero for no limit.</summary>
    public TimeSpan Limit { get; init; }

    /// <summary>The file to which the calls of the process that make data durable are written, or null if it is not traced.</summary>
    public string? Trace { get; init; }

    /// <summary>False if a workload of the first second continues behind its last slice, up to its last operation.</summary>
    public bool StopsAfterLastSlice { get; init; } = true;

    public long Transactions => Workload.ItemsPerTransaction == 0
        ? 1
        : (Operations + Workload.ItemsPerTransaction - 1) / Workload.ItemsPerTransaction;
}
