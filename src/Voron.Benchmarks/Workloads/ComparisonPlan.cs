using static Voron.Benchmarks.Workloads.WorkloadCatalog;

namespace Voron.Benchmarks.Workloads;

/// <summary>The steps of a comparison at full scale, in the order in which they use each other's stores.</summary>
internal static class ComparisonPlan
{
    private const long SequentialItems = 2_000_000;
    private const long RandomItems = 1_000_000;
    private const long RandomReads = 10_000_000;
    private const long ScannedItems = 5_000_000;
    private const long SinglePuts = 40_000;
    private const long CallerPuts = 1_000_000;
    private const long MixedMilliseconds = 10_000;
    private const long BulkItems = 10_000_000;

    /// <summary>About 64 MiB of journal, at about 24 KB per transaction of 100 items.</summary>
    private const long CrashedItems = 270_000;

    /// <summary>More than any engine does in the three seconds of such a run.</summary>
    private const long FirstSecondItems = 20_000_000;

    private static readonly (WorkloadDefinition Workload, long Items, long Operations)[] Plan =
    [
        (SequentialInsert, SequentialItems, SequentialItems),
        (RandomInsert, RandomItems, RandomItems),
        (RandomUpdate, RandomItems, RandomItems),
        (SinglePut, SinglePuts, SinglePuts),
        (SinglePutOnStore, RandomItems, SinglePuts),
        (Callers16, CallerPuts, CallerPuts),
        (Callers64, CallerPuts, CallerPuts),
        (Callers512, CallerPuts, CallerPuts),
        (RandomRead, RandomItems, RandomReads),
        (RandomReadTwo, RandomItems, RandomReads),
        (RandomReadMany, RandomItems, RandomReads),
        (ScanForward, RandomItems, ScannedItems),
        (ScanBackward, RandomItems, ScannedItems),
        (DeleteHalf, RandomItems, RandomItems / 2),
        (InsertAgain, RandomItems, RandomItems / 2),

        // Last on its store, because the values it leaves depend on the speed of the engine.
        (UpdateWhileReading, RandomItems, MixedMilliseconds),
        (FirstRandomUpdate, RandomItems, FirstSecondItems),
        (FirstSinglePutOnStore, RandomItems, FirstSecondItems),
        (FirstSequentialInsert, FirstSecondItems, FirstSecondItems),
        (FirstRandomInsert, FirstSecondItems, FirstSecondItems),
        (FirstSinglePut, FirstSecondItems, FirstSecondItems),
        (Write1K, 100_000, 100_000),
        (Read1K, 100_000, 4_000_000),
        (Write16K, 16_000, 16_000),
        (Read16K, 16_000, 400_000),
        (Overwrite16K, 16_000, 16_000),
        (Write20K, 10_000, 10_000),
        (Write1M, 512, 512),
        (Read1M, 512, 8_000),
        (Overwrite1M, 512, 512),
        (Write64M, 8, 8),
        (Read64M, 8, 128),
        (CrashedInsert, CrashedItems, CrashedItems),
        (OpenCrashed, CrashedItems, 1),
        (WorkloadCatalog.BulkLoad, BulkItems, BulkItems),
        (OpenClean, BulkItems, 1),
        (BulkLoadSorted, BulkItems, BulkItems),
    ];

    /// <param name="only">Names of workloads; empty for all. The workloads that create their stores are added, but not reported.</param>
    /// <exception cref="BenchmarkException">A name is unknown or not part of the plan.</exception>
    public static Comparison.Step[] Select(IReadOnlyList<string> only, double scale)
    {
        WorkloadDefinition[] wanted = [.. only.Select(Find)];
        foreach (var workload in wanted)
        {
            if (Plan.All(step => step.Workload != workload))
            {
                var names = string.Join(", ", Plan.Select(step => step.Workload.Name));
                throw new BenchmarkException($"'{workload.Name}' is not part of the comparison. Choose from: {names}.");
            }
        }
        return
        [
            .. from step in Plan
               let isWanted = wanted.Length == 0 || wanted.Contains(step.Workload)
               where isWanted || wanted.Any(workload => IsNeededBy(step.Workload, workload))
               select Scale(step, scale, isWanted),
        ];
    }

    private static bool IsNeededBy(WorkloadDefinition step, WorkloadDefinition wanted) =>
        (step.CreatesStore && step.Store == wanted.Store)
        || (step.Kind == WorkloadKind.DeleteHalf && wanted.Kind == WorkloadKind.InsertAgain)
        || (step.Kind == WorkloadKind.InsertAgain && wanted.Kind == WorkloadKind.DeleteHalf)

        // Goals compare many callers with one, and two threads and batches with single gets.
        || (step == SinglePut && wanted == Callers64)
        || (step == Callers64 && wanted == Callers512)
        || (step == RandomRead && (wanted == RandomReadTwo || wanted == RandomReadMany))
        || (step == SequentialInsert && wanted == RandomInsert);

    private static Comparison.Step Scale((WorkloadDefinition Workload, long Items, long Operations) step, double scale, bool isReported)
    {
        if (step.Workload.IsFirstSecond)
        {
            var stored = step.Workload.CreatesStore ? step.Items : WorkloadDefinition.Scale(step.Items, scale, step.Workload.ValueBytes);
            return new Comparison.Step(step.Workload, stored, step.Operations, isReported);
        }

        var items = WorkloadDefinition.Scale(step.Items, scale, step.Workload.ValueBytes);
        var operations = step.Workload.Kind is WorkloadKind.DeleteHalf or WorkloadKind.InsertAgain
            ? WorkloadDefinition.EvenItems(items)
            : WorkloadDefinition.Scale(step.Operations, scale, step.Workload.ValueBytes);
        return new Comparison.Step(step.Workload, items, operations, isReported);
    }
}

/// <summary>The engines and the workloads of a comparison. Goals and ratios are those of this project's engine.</summary>
/// <param name="Limit">The time after which runs that can be cut short stop. Zero for no limit.</param>
internal sealed record Comparison(IReadOnlyList<EngineDescriptor> Engines, IReadOnlyList<Comparison.Step> Steps, int Rounds, TimeSpan Limit = default)
{
    private static readonly WorkloadDefinition[] JournalWorkloads =
        [WorkloadCatalog.SequentialInsert, WorkloadCatalog.RandomInsert, WorkloadCatalog.RandomUpdate];

    /// <summary>The engines to compare, followed by the journal variants that some steps add.</summary>
    public IEnumerable<EngineDescriptor> AllEngines => Engines.Concat(Variants);

    private IEnumerable<EngineDescriptor> Variants =>
        Engines.Any(engine => engine.Name == EngineCatalog.Voron)
            ? EngineCatalog.All.Where(engine => engine.IsJournalVariant && !Engines.Contains(engine))
            : [];

    /// <summary>
    /// Returns the installed engines that run a step. Steps about journals add the variants with and without compression.
    /// </summary>
    public EngineDescriptor[] EnginesOf(Step step) =>
        [.. (IsAboutJournals(step) ? AllEngines : Engines).Where(engine => engine.IsInstalled() && engine.LeavesOut(step.Workload) is null)];

    /// <summary>Returns true if no later step needs this engine's store.</summary>
    public bool IsLastOfStore(Step step, EngineDescriptor engine) =>
        Steps.Last(other => other.Workload.Store == step.Workload.Store && EnginesOf(other).Contains(engine)) == step;

    private bool IsAboutJournals(Step step) =>
        JournalWorkloads.Contains(step.Workload)
        && Steps.Any(other => other.IsReported && other.Workload.Store == step.Workload.Store && JournalWorkloads.Contains(other.Workload));

    /// <param name="IsReported">False if the step only prepares for another one.</param>
    internal sealed record Step(WorkloadDefinition Workload, long Items, long Operations, bool IsReported);
}
