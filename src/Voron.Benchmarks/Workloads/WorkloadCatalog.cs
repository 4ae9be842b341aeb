namespace Voron.Benchmarks.Workloads;

internal static class WorkloadCatalog
{
    private const string SequentialStore = "sequential";
    private const string RandomStore = "random";
    private const string CrashedStore = "crashed";
    private const string BulkStore = "bulk";
    private const int PutsPerTransaction = 100;
    private const int GetsPerTransaction = 1_000;
    private const int PutsPerBulkTransaction = 100_000;
    private const int KiB = 1 << 10;
    private const int MiB = 1 << 20;
    public static readonly WorkloadDefinition SequentialInsert = new(
        "sequential-insert", WorkloadKind.Insert, KeyOrder.Sequential, SequentialStore, PutsPerTransaction, "sequential insert");
    public static readonly WorkloadDefinition SequentialRead = new(
        "sequential-read", WorkloadKind.GetInOrder, KeyOrder.Sequential, SequentialStore, GetsPerTransaction, "sequential read");
    public static readonly WorkloadDefinition RandomInsert = new(
        "random-insert", WorkloadKind.Insert, KeyOrder.Random, RandomStore, PutsPerTransaction, "random insert");
    public static readonly WorkloadDefinition RandomUpdate = new(
        "random-update", WorkloadKind.Update, KeyOrder.Random, RandomStore, PutsPerTransaction, "random update");
    public static readonly WorkloadDefinition SinglePut = new("single-put", WorkloadKind.Insert, KeyOrder.Random, "single", 1, "one put a commit");
    public static readonly WorkloadDefinition SinglePutOnStore = new(
        "single-put-on-store", WorkloadKind.Update, KeyOrder.Random, RandomStore, 1, "one put a commit, on the store");
    public static readonly WorkloadDefinition Callers16 = Concurrent(16);
    public static readonly WorkloadDefinition Callers64 = Concurrent(64);
    public static readonly WorkloadDefinition Callers512 = Concurrent(512);
    public static readonly WorkloadDefinition RandomRead = new(
        "random-read", WorkloadKind.Get, KeyOrder.Random, RandomStore, GetsPerTransaction, "random read");
    public static readonly WorkloadDefinition RandomReadTwo = RandomRead with
    {
        Name = "random-read-2",
        Title = "random read, two threads",
        Callers = 2,
    };

    public static readonly WorkloadDefinition RandomReadMany = RandomRead with
    {
        Name = "random-read-many",
        Title = "random read, many keys at a time",
        Kind = WorkloadKind.GetMany,
    };

    public static readonly WorkloadDefinition ScanForward = new(
        "scan-forward", WorkloadKind.ScanForward, KeyOrder.Random, RandomStore, 0, "full scan forward");
    public static readonly WorkloadDefinition ScanBackward = new(
        "scan-backward", WorkloadKind.ScanBackward, KeyOrder.Random, RandomStore, 0, "full scan backward");
    public static readonly WorkloadDefinition UpdateWhileReading = new(
        "update-while-reading", WorkloadKind.UpdateWhileReading, KeyOrder.Random, RandomStore, PutsPerTransaction,
        "random update beside a reader");
    public static readonly WorkloadDefinition DeleteHalf = new(
        "delete-half", WorkloadKind.DeleteHalf, KeyOrder.Random, RandomStore, PutsPerTransaction, "delete half");
    public static readonly WorkloadDefinition InsertAgain = new(
        "insert-again", WorkloadKind.InsertAgain, KeyOrder.Random, RandomStore, PutsPerTransaction, "insert it again");
    public static readonly WorkloadDefinition CrashedInsert = new(
        "crash", WorkloadKind.Insert, KeyOrder.Random, CrashedStore, PutsPerTransaction, "random insert, then killed")
    {
        EndsInCrash = true,
    };

    public static readonly WorkloadDefinition OpenCrashed = new(
        "open-after-crash", WorkloadKind.Open, KeyOrder.Random, CrashedStore, 1, "open after a crash");
    public static readonly WorkloadDefinition BulkLoad = new(
        "bulk-load", WorkloadKind.Insert, KeyOrder.Random, BulkStore, PutsPerBulkTransaction, "bulk load, random")
    {
        IsLoad = true,
    };

    public static readonly WorkloadDefinition OpenClean = new("open-clean", WorkloadKind.Open, KeyOrder.Random, BulkStore, 1, "open a clean store");
    public static readonly WorkloadDefinition BulkLoadSorted = new(
        "bulk-load-sorted", WorkloadKind.Insert, KeyOrder.Sequential, "bulk-sorted", PutsPerBulkTransaction, "bulk load, sorted")
    {
        IsSortedInput = true,
        IsLoad = true,
    };

    public static readonly WorkloadDefinition Write1K = WriteValues("1k", KiB, PutsPerTransaction, "1 KiB");
    public static readonly WorkloadDefinition Read1K = ReadValues(Write1K, 100);
    public static readonly WorkloadDefinition Write16K = WriteValues("16k", 16 * KiB, 10, "16 KiB");
    public static readonly WorkloadDefinition Read16K = ReadValues(Write16K, 10);
    public static readonly WorkloadDefinition Overwrite16K = OverwriteValues(Write16K);
    public static readonly WorkloadDefinition Write20K = WriteValues("20k", 20 * KiB, 1, "20 KiB");
    public static readonly WorkloadDefinition Write1M = WriteValues("1m", MiB, 1, "1 MiB");
    public static readonly WorkloadDefinition Read1M = ReadValues(Write1M, 1);
    public static readonly WorkloadDefinition Overwrite1M = OverwriteValues(Write1M);
    public static readonly WorkloadDefinition Write64M = WriteValues("64m", 64 * MiB, 1, "64 MiB");
    public static readonly WorkloadDefinition Read64M = ReadValues(Write64M, 1);
    public static readonly WorkloadDefinition FirstSequentialInsert = FirstSecondOf(SequentialInsert) with { Store = "first-sequential" };
    public static readonly WorkloadDefinition FirstRandomInsert = FirstSecondOf(RandomInsert) with { Store = "first-random" };
    public static readonly WorkloadDefinition FirstRandomUpdate = FirstSecondOf(RandomUpdate);
    public static readonly WorkloadDefinition FirstSinglePut = FirstSecondOf(SinglePut) with { Store = "first-single" };
    public static readonly WorkloadDefinition FirstSinglePutOnStore = FirstSecondOf(SinglePutOnStore);

    public static IReadOnlyList<WorkloadDefinition> All { get; } =
    [
        SequentialInsert, SequentialRead, RandomInsert, RandomUpdate, SinglePut, SinglePutOnStore, Callers16, Callers64, Callers512,
        RandomRead, RandomReadTwo, RandomReadMany, ScanForward, ScanBackward, UpdateWhileReading, DeleteHalf, InsertAgain,
        Write1K, Read1K, Write16K, Read16K, Overwrite16K, Write20K, Write1M, Read1M, Overwrite1M, Write64M, Read64M,
        CrashedInsert, OpenCrashed, BulkLoad, OpenClean, BulkLoadSorted,
        FirstSequentialInsert, FirstRandomInsert, FirstRandomUpdate, FirstSinglePut, FirstSinglePutOnStore,
    ];

    /// <exception cref="BenchmarkException">No workload has that name.</exception>
    public static WorkloadDefinition Find(string name) =>
        All.FirstOrDefault(workload => workload.Name == name)
        ?? throw new BenchmarkException($"No workload is called '{name}'. Choose from: {string.Join(", ", All.Select(workload => workload.Name))}.");

    /// <summary>Returns the workload that creates the store of <paramref name="workload"/>.</summary>
    public static WorkloadDefinition CreatorOf(WorkloadDefinition workload) =>
        All.First(candidate => candidate.Store == workload.Store && candidate.CreatesStore);

    private static WorkloadDefinition Concurrent(int callers) => new(
        $"callers-{callers}", WorkloadKind.ConcurrentInsert, KeyOrder.Random, $"callers-{callers}", 1, $"durable puts, {callers} callers")
    {
        Callers = callers,
    };

    private static WorkloadDefinition FirstSecondOf(WorkloadDefinition workload) => workload with
    {
        Name = $"first-second-{workload.Name}",
        Title = $"{workload.Title}, first second",
        IsFirstSecond = true,
    };

    private static WorkloadDefinition WriteValues(string suffix, int valueBytes, int perTransaction, string size) => new(
        $"write-{suffix}", WorkloadKind.Insert, KeyOrder.Random, $"values-{suffix}", perTransaction, $"write values of {size}")
    {
        ValueBytes = valueBytes,
    };

    // Most of the values take the space of others.
    private static WorkloadDefinition OverwriteValues(WorkloadDefinition write) => write with
    {
        Name = write.Name.Replace("write", "overwrite"),
        Title = write.Title.Replace("write", "overwrite"),
        Kind = WorkloadKind.Update,
    };

    private static WorkloadDefinition ReadValues(WorkloadDefinition write, int perTransaction) => write with
    {
        Name = write.Name.Replace("write", "read", StringComparison.Ordinal),
        Kind = WorkloadKind.Get,
        ItemsPerTransaction = perTransaction,
        Title = write.Title.Replace("write", "read", StringComparison.Ordinal),
    };
}
