using System.CommandLine;
using Spectre.Console;

namespace Voron.Benchmarks.Commands;

/// <summary>
/// Measures the cost of one random get and of one random put, in transactions of 100, as the store grows tenfold at a time; and on the
/// largest store once more with less memory than it needs.
/// </summary>
internal static class ScaleCommand
{
    /// <summary>Marks a row that was measured without a limit.</summary>
    private const string AllMemory = "all";

    private const long FirstItems = 10_000;

    /// <summary>Enough to read the pages of a small store often, because the cost of a get in a warm store is asked for.</summary>
    private const long Gets = 2_000_000;

    private const long Puts = 200_000;
    private const int SpaceFactor = 3;
    private const long CheckedItems = 1_000_000;
    private const int DefaultLimitSeconds = 20;
    private const double DefaultFactor = 4;

    /// <summary>Below this, even the runtime has no room.</summary>
    private const long SmallestMemory = 384 << 20;

    public static Command Create()
    {
        var max = new Option<long>("--max-items")
        {
            Description = "Items of the largest store. 100000000 items need about 45 GB of free disk.",
            DefaultValueFactory = _ => 10_000_000,
        };
        var min = new Option<long>("--min-items") { Description = "Items of the smallest store.", DefaultValueFactory = _ => FirstItems };
        var engines = CommandOptions.Engines(EngineCatalog.Voron, EngineCatalog.Lmdb, EngineCatalog.RocksDb);
        var factor = new Option<double>("--beyond-memory")
        {
            Description = "Measures the largest store again in a memory cgroup so small that its items are this many times larger; 0 for not at all.",
            DefaultValueFactory = _ => DefaultFactor,
        };
        var memory = new Option<long>("--memory-limit")
        {
            Description = "Sets that memory, page cache included, in MiB instead of by --beyond-memory.",
            HelpName = "MIB",
        };
        var limit = CommandOptions.TimeLimit(
            "Stops gets, or puts, after this many seconds. The cost is over the operations done.", DefaultLimitSeconds);
        return CommandOptions.Create(
            "scale", "Measures a get and a put as the store grows, and when it no longer fits into memory.",
            async (parsed, session, stop) =>
            {
                var chosen = CommandOptions.FindEngines(parsed.GetRequiredValue(engines));
                foreach (var missing in chosen.Where(engine => !engine.IsInstalled()))
                    AnsiConsole.WriteLine($"{missing.Name}: not installed, {missing.InstallHint}");
                var least = Math.Max(1, parsed.GetValue(min));
                var items = Math.Max(least, parsed.GetValue(max));
                var userBytes = items * (ItemGenerator.KeyBytes + ItemGenerator.ValueBytes);
                var times = parsed.GetValue(factor);
                var memoryBytes = parsed.GetValue(memory) > 0 ? parsed.GetValue(memory) << 20 : times > 0 ? (long)(userBytes / times) : 0;
                var plan = new Plan(
                    [.. chosen.Where(engine => engine.IsInstalled())], least, items, memoryBytes, TimeSpan.FromSeconds(parsed.GetValue(limit)));
                session.CheckDevice(userBytes * SpaceFactor);
                var rows = await MeasureAsync(session.Area, plan, stop).ConfigureAwait(false);
                session.Finish(new Report("Cost as the store grows", [], [Table(rows)]), [.. rows.SelectMany(row => row.Results)]);
                RequireAgreement(rows);
            },
            min, max, engines, factor, memory, limit);
    }

    private static async Task<List<Row>> MeasureAsync(WorkArea area, Plan plan, CancellationToken stop)
    {
        var rows = new List<Row>();

        // Loading takes nearly all of the time, so progress counts items.
        long[] sizes = [.. plan.Sizes()];
        await MeasuringSession.ShowProgressAsync(sizes.Sum() * plan.Engines.Length, async progress =>
        {
            foreach (var (items, engine) in sizes.SelectMany(items => plan.Engines.Select(engine => (items, engine))))
            {
                var store = new Store(engine.Name, items, area.StorePath(engine.Name, WorkloadCatalog.ScaleLoad.Store), plan.Limit, progress);
                var before = progress.Value;
                progress.Description = string.Create(CultureInfo.InvariantCulture, $"{engine.Name}, {items:N0} items");
                var row = await store.MeasureAsync(stop).ConfigureAwait(false);
                rows.Add(row);
                if (items == plan.MaxItems && plan.MemoryBytes > 0)
                {
                    progress.Description += ", less memory";
                    if (await store.MeasureAgainAsync(row, plan.MemoryBytes, stop).ConfigureAwait(false) is { } again)
                        rows.Add(again);
                }
                Directory.Delete(store.Path, recursive: true);
                progress.Value = before + items;
            }
        }).ConfigureAwait(false);
        return rows;
    }

    private static ReportTable Table(List<Row> rows) =>
        new TableOf<Row>("Random gets and durable random puts, 100 a transaction, after a sorted bulk load")
            .Text("engine", row => row.Engine).Count("items", row => row.Items)
            .Decimal("get us", row => 1e6 / row.Get.OperationsPerSecond).Decimal("put us", row => 1e6 / row.Put.OperationsPerSecond)
            .Count("load items/s", row => row.Load.OperationsPerSecond)
            .Bytes("resident", row => row.Get.Memory?.ResidentBytes).Bytes("anonymous", row => row.Get.Memory?.AnonymousBytes)
            .Bytes("on disk", row => row.Put.AllocatedBytesClosed)
            .Decimal("seconds", row => row.Results.Sum(result => result.ProcessSeconds))
            .Text("note", row => string.Join("; ", row.Results.Where(result => result.IsCut).Select(result => $"{result.Workload} {result.Note}")))
            .Text("memory", row => row.Memory)
            .OfEach(rows);

    private static void RequireAgreement(List<Row> rows)
    {
        foreach (var size in rows.Where(row => row is { Memory: AllMemory, Get.IsCut: false }).GroupBy(row => row.Items))
        {
            if (size.Select(row => row.Get.Checksum).Distinct().Count() > 1)
                throw new BenchmarkException($"The engines disagree on the content that they read from {size.Key:N0} items.");
        }
    }

    private sealed record Plan(EngineDescriptor[] Engines, long MinItems, long MaxItems, long MemoryBytes, TimeSpan Limit)
    {
        public IEnumerable<long> Sizes()
        {
            for (var items = MinItems; items < MaxItems; items *= 10)
                yield return items;
            yield return MaxItems;
        }
    }

    /// <summary>The measurements of one engine at one size.</summary>
    private sealed record Row(string Engine, long Items, string Memory, RunResult Load, RunResult Get, RunResult Put)
    {
        public RunResult[] Results => [Load, Get, Put];
    }

    /// <summary>One engine's store of one size.</summary>
    private sealed record Store(string Engine, long Items, string Path, TimeSpan Limit, ProgressTask Progress)
    {
        public async Task<Row> MeasureAsync(CancellationToken stop)
        {
            var isSmall = Items <= CheckedItems;
            var load = await RunAsync(WorkloadCatalog.ScaleLoad, Items, isSmall, stop).ConfigureAwait(false);

            // The scan before the gets brings the store into memory, as far as it fits.
            var get = await RunAsync(WorkloadCatalog.ScaleGet, Gets, checksStore: true, stop).ConfigureAwait(false);
            var put = await RunAsync(WorkloadCatalog.ScalePut, Puts, isSmall, stop).ConfigureAwait(false);
            return new Row(Engine, Items, AllMemory, load, get, put);
        }

        /// <summary>Measures gets and puts once more with little memory, or returns null where memory cannot be limited.</summary>
        public async Task<Row?> MeasureAgainAsync(Row row, long memoryBytes, CancellationToken stop)
        {
            LinuxCalls.ForgetDirectory(Path);
            if (memoryBytes < SmallestMemory)
            {
                AnsiConsole.WriteLine($"No memory limit below {SmallestMemory >> 20} MiB: use more items or a larger --memory-limit.");
                return null;
            }

            using var group = MemoryGroup.TryCreate(memoryBytes, AnsiConsole.WriteLine);
            if (group is null || !group.TryJoin(AnsiConsole.WriteLine))
                return null;
            var get = await RunAsync(WorkloadCatalog.ScaleGet, Gets, checksStore: false, stop).ConfigureAwait(false);
            var put = await RunAsync(WorkloadCatalog.ScalePut, Puts, checksStore: false, stop).ConfigureAwait(false);
            return row with { Memory = $"{memoryBytes >> 20} MiB by cgroup", Get = get, Put = put };
        }

        private Task<RunResult> RunAsync(WorkloadDefinition workload, long operations, bool checksStore, CancellationToken stop)
        {
            // Puts are of another round and thus of other keys, so that they do not find pages in memory that the gets read.
            var request = new RunRequest(Engine, workload, Path, Items, operations, Round: workload == WorkloadCatalog.ScalePut ? 1 : 0)
            {
                Limit = workload.CreatesStore ? TimeSpan.Zero : Limit,
                ChecksStore = checksStore,
            };
            return MeasuringSession.RunAsync(request, Progress, workload.CreatesStore ? Items * 0.9 : 0, stop);
        }
    }
}
