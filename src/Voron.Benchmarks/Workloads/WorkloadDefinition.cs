namespace Voron.Benchmarks.Workloads;

internal enum WorkloadKind
{
    Insert,
    Update,
    Get,
    GetInOrder,
    ScanForward,
    ScanBackward,
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
    public bool Writes => Kind is WorkloadKind.Insert or WorkloadKind.Update;

    public bool CreatesStore => Kind == WorkloadKind.Insert;
}

internal static class WorkloadCatalog
{
    private const string SequentialStore = "sequential";
    private const string RandomStore = "random";
    private const int PutsPerTransaction = 100;
    private const int GetsPerTransaction = 1_000;

    public static readonly WorkloadDefinition SequentialInsert = new(
        "sequential-insert", WorkloadKind.Insert, KeyOrder.Sequential, SequentialStore, PutsPerTransaction, "sequential insert");

    public static readonly WorkloadDefinition SequentialRead = new(
        "sequential-read", WorkloadKind.GetInOrder, KeyOrder.Sequential, SequentialStore, GetsPerTransaction, "sequential read");

    public static readonly WorkloadDefinition RandomInsert = new(
        "random-insert", WorkloadKind.Insert, KeyOrder.Random, RandomStore, PutsPerTransaction, "random insert");

    public static readonly WorkloadDefinition RandomUpdate = new(
        "random-update", WorkloadKind.Update, KeyOrder.Random, RandomStore, PutsPerTransaction, "random update");

    public static readonly WorkloadDefinition RandomRead = new(
        "random-read", WorkloadKind.Get, KeyOrder.Random, RandomStore, GetsPerTransaction, "random read");

    public static readonly WorkloadDefinition ScanForward = new(
        "scan-forward", WorkloadKind.ScanForward, KeyOrder.Random, RandomStore, 0, "full scan forward");

    public static readonly WorkloadDefinition ScanBackward = new(
        "scan-backward", WorkloadKind.ScanBackward, KeyOrder.Random, RandomStore, 0, "full scan backward");

    public static readonly WorkloadDefinition SinglePut = new(
        "single-put", WorkloadKind.Insert, KeyOrder.Random, "single", 1, "one put a commit");

    public static IReadOnlyList<WorkloadDefinition> All { get; } =
        [SequentialInsert, SequentialRead, RandomInsert, RandomUpdate, RandomRead, ScanForward, ScanBackward, SinglePut];

    /// <exception cref="BenchmarkException">No workload has that name.</exception>
    public static WorkloadDefinition Find(string name) =>
        All.FirstOrDefault(workload => workload.Name == name)
        ?? throw new BenchmarkException(
            $"No workload is called '{name}'. There are: {string.Join(", ", All.Select(workload => workload.Name))}.");

    /// <summary>The workload that fills the store which <paramref name="workload"/> reads.</summary>
    public static WorkloadDefinition CreatorOf(WorkloadDefinition workload) =>
        All.First(candidate => candidate.Store == workload.Store && candidate.CreatesStore);
}
