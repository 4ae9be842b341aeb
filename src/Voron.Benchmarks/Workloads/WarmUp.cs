namespace Voron.Benchmarks.Workloads;

/// <summary>
/// Runs the same loops on a small store until tiered compilation has compiled them and its background work is done. Otherwise the first
/// engine call of a process, and every short run, would measure unoptimised code.
/// </summary>
internal static class WarmUp
{
    private const int MaxItems = 10_000;
    private const int FewItems = 100;
    private const int MaxValueBytes = 1 << 20;
    private const long MaxStoreBytes = 16 << 20;
    private const int MaxPerTransaction = 1_000;
    private const int TransactionsPerTurn = 20;
    private const int MixedMilliseconds = 100;
    private const int OpeningTurns = 3;
    private static readonly TimeSpan Time = TimeSpan.FromMilliseconds(600);

    /// <summary>True in tests, which measure nothing: each loop runs once, with few items.</summary>
    public static bool IsShort { get; set; }

    public static void Run(EngineDescriptor descriptor, RunRequest request)
    {
        var directory = request.Directory + ".warm-up";
        WorkArea.Delete(directory);
        Directory.CreateDirectory(directory);
        try
        {
            Run(descriptor, directory, request);
        }
        finally
        {
            WorkArea.Delete(directory);
        }
    }

    private static void Run(EngineDescriptor descriptor, string directory, RunRequest request)
    {
        var creator = WorkloadCatalog.CreatorOf(request.Workload);
        var valueBytes = Math.Min(MaxValueBytes, request.Workload.ValueBytes);
        var items = (int)Math.Min(IsShort ? FewItems : MaxItems, MaxStoreBytes / valueBytes);
        var fill = request with
        {
            Workload = creator with
            {
                Kind = WorkloadKind.Insert,
                ItemsPerTransaction = Math.Min(MaxPerTransaction, items),
                ValueBytes = valueBytes,
                Callers = 1,
            },
            Items = items,
            Operations = items,
        };
        var ignored = new TimedRun(new ProgressSignal(null));
        using (var engine = descriptor.Open(directory, new EngineObserver()))
        {
            WorkloadLoops.Run(engine, fill, ignored);
            var started = Stopwatch.GetTimestamp();
            do
            {
                Repeat(engine, request, items, valueBytes, ignored);
                ScanLoop.CheckStore(engine, items);
            }
            while (!IsShort && Stopwatch.GetElapsedTime(started) < Time);
        }

        // Opening an existing store, and reading data that an earlier process wrote, run code of their own.
        for (var i = 0; i < (IsShort ? 1 : OpeningTurns); i++)
        {
            using var engine = descriptor.Open(directory, new EngineObserver());
            if (!request.Workload.Writes)
                Repeat(engine, request, items, valueBytes, ignored);
            ScanLoop.CheckStore(engine, items);
        }
    }

    private static void Repeat(BenchmarkEngine engine, RunRequest request, int items, int valueBytes, TimedRun ignored)
    {
        var perTransaction = Math.Min(MaxPerTransaction, Math.Max(1, request.Workload.ItemsPerTransaction));

        // Repeated inserts are no longer in order.
        var workload = request.Workload with { ItemsPerTransaction = perTransaction, ValueBytes = valueBytes, IsSortedInput = false };

        // A scan has no transactions to repeat, so it covers the whole store, which also warms the step from page to page.
        // Concurrent callers each repeat their turns.
        var turns = TransactionsPerTurn * (workload.Kind == WorkloadKind.ConcurrentInsert ? workload.Callers : 1);
        long operations = request.Workload.ItemsPerTransaction == 0 ? items : Math.Min(items, perTransaction * turns);
        if (workload.Kind == WorkloadKind.UpdateWhileReading)
            operations = MixedMilliseconds;
        if (workload.Kind is not (WorkloadKind.DeleteHalf or WorkloadKind.InsertAgain))
        {
            WorkloadLoops.Run(engine, request with { Workload = workload, Items = items, Operations = operations }, ignored);
            return;
        }
        operations = WorkloadDefinition.EvenItems(items);
        foreach (var kind in (ReadOnlySpan<WorkloadKind>)[WorkloadKind.DeleteHalf, WorkloadKind.InsertAgain])
        {
            var half = workload with { Kind = kind };
            WorkloadLoops.Run(engine, request with { Workload = half, Items = items, Operations = operations }, ignored);
        }
    }
}
