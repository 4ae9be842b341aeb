namespace Voron.Benchmarks.Workloads;

internal enum WorkloadKind
{
    Insert,

    /// <summary>Inserts by many callers, each of which awaits its own durable put.</summary>
    ConcurrentInsert,
    Update,

    /// <summary>Deletes every item with an even number: in key order these are spread over the whole store.</summary>
    DeleteHalf,

    /// <summary>Puts back what <see cref="DeleteHalf"/> deleted.</summary>
    InsertAgain,
    Get,
    GetInOrder,

    /// <summary>All gets of a transaction handed over together.</summary>
    GetMany,
    ScanForward,
    ScanBackward,

    /// <summary>One thread updates while another gets, for a time: operations are milliseconds.</summary>
    UpdateWhileReading,

    /// <summary>From the call that opens the store to the end of the first get.</summary>
    Open,
}

/// <summary>
/// One thing to measure. Workloads with the same <see cref="Store"/> share a directory: an insert starts it anew, the
/// others use what the insert left.
/// </summary>
/// <param name="Name">As given on the command line.</param>
/// <param name="Kind">What is done.</param>
/// <param name="Keys">Which keys the store has.</param>
/// <param name="Store">Name of the store's directory.</param>
/// <param name="ItemsPerTransaction">Puts in a write transaction, gets in a read transaction.</param>
/// <param name="Title">For tables.</param>
internal sealed record WorkloadDefinition(
    string Name, WorkloadKind Kind, KeyOrder Keys, string Store, int ItemsPerTransaction, string Title)
{
    public int ValueBytes { get; init; } = ItemGenerator.ValueBytes;

    /// <summary>Reading threads, or callers of a <see cref="WorkloadKind.ConcurrentInsert"/>.</summary>
    public int Callers { get; init; } = 1;

    /// <summary>Keys come in order and the engine may know it.</summary>
    public bool IsSortedInput { get; init; }

    /// <summary>The process ends by a signal with the store open.</summary>
    public bool EndsInCrash { get; init; }

    public bool CreatesStore => Kind is WorkloadKind.Insert or WorkloadKind.ConcurrentInsert;

    public bool Writes => CreatesStore
        || Kind is WorkloadKind.Update or WorkloadKind.DeleteHalf or WorkloadKind.InsertAgain or WorkloadKind.UpdateWhileReading;

    /// <summary>A store that has been worked on for a time differs between engines in its values, not in its keys.</summary>
    public bool LeavesOwnValues => Kind == WorkloadKind.UpdateWhileReading;

    public long ItemsBefore(long items) => Kind == WorkloadKind.InsertAgain ? items - EvenItems(items) : CreatesStore ? 0 : items;

    public long ItemsAfter(long items) => Kind == WorkloadKind.DeleteHalf ? items - EvenItems(items) : items;

    /// <summary>How many of the numbers below <paramref name="items"/> are even.</summary>
    public static long EvenItems(long items) => (items + 1) / 2;
}
