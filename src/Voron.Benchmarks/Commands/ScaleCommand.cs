using System.CommandLine;
using System.Globalization;
using Spectre.Console;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Processes;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Commands;

/// <summary>
/// Measures the cost of one random get and of one random put, in transactions of 100, as the store grows tenfold at a time; and on the
/// largest store once more with less memory than it needs.
/// </summary>
internal static class ScaleCommand
{
    private const long FirstItems = 10_000;

    /// <summary>Enough to read the pages of a small store often, because the cost of a get in a warm store is asked for.</summary>
    private const long Gets = 2_000_000;
    private const long Puts = 200_000;
    private const int SpaceFactor = 3;
    private const long CheckedItems = 1_000_000;
    private const int DefaultLimitSeconds = 20;
    private const double DefaultFactor = 4;

    public static Command Create()
    {
        var output = new OutputOptions();
        var max = new Option<long>("--max-items")
        {
            Description = "Items of the largest store. 100000000 items need about 45 GB of free disk.",
            DefaultValueFactory = _ => 10_000_000,
        };
        var min = new Option<long>("--min-items") { Description = "Items of the smallest store.", DefaultValueFactory = _ => FirstItems };
        var engines = CommonOptions.Engines(EngineCatalog.Voron, EngineCatalog.Lmdb, EngineCatalog.RocksDb);
        var factor = new Option<double>("--beyond-memory")
        {
            Description = "Measures the largest store again with so little memory that its items are this many times larger; 0 for not at all. "
                + "Memory is limited by a cgroup if one can be created, otherwise by a process that locks all other memory.",
            DefaultValueFactory = _ => DefaultFactor,
        };
        var memory = new Option<long>("--memory-limit")
        {
            Description = "Sets that memory, page cache included, in MiB instead of by --beyond-memory.",
            HelpName = "MIB",
        };
        var limit = CommonOptions.TimeLimit(
            "Stops gets, or puts, after this many seconds. The cost is over the operations done.", DefaultLimitSeconds);
        var command = new Command("scale", "Measures a get and a put as the store grows, and when it no longer fits into memory.")
        {
            min, max, engines, factor, memory, limit,
        };
        output.AddTo(command);
        command.SetAction(async (parsed, cancellationToken) =>
        {
            var chosen = CommonOptions.FindEngines(parsed.GetRequiredValue(engines));
            foreach (var missing in chosen.Where(engine => !engine.IsInstalled()))
                AnsiConsole.WriteLine($"{missing.Name}: not installed, {missing.InstallHint}");
            var least = Math.Max(1, parsed.GetValue(min));
            var items = Math.Max(least, parsed.GetValue(max));
            var userBytes = items * (ItemGenerator.KeyBytes + ItemGenerator.ValueBytes);
            var times = parsed.GetValue(factor);
            var memoryBytes = parsed.GetValue(memory) > 0 ? parsed.GetValue(memory) << 20 : times > 0 ? (long)(userBytes / times) : 0;
            var plan = new Plan(
                [.. chosen.Where(engine => engine.IsInstalled())], least, items, memoryBytes, TimeSpan.FromSeconds(parsed.GetValue(limit)));

            using var session = output.Begin(parsed);
            session.CheckDevice(userBytes * SpaceFactor);
            var rows = await MeasureAsync(session.Area, plan, cancellationToken).ConfigureAwait(false);
            session.Finish(ScaleReport.Create(rows), [.. rows.SelectMany(row => row.Results)]);
            ScaleReport.RequireAgreement(rows);
        });
        return command;
    }

    private static async Task<List<ScaleRow>> MeasureAsync(WorkArea area, Plan plan, CancellationToken cancellationToken)
    {
        var rows = new List<ScaleRow>();

        // Loading takes nearly all of the time, so progress counts items.
        long[] sizes = [.. plan.Sizes()];
        await MeasuringSession.ShowProgressAsync(sizes.Sum() * plan.Engines.Length, async progress =>
        {
            foreach (var items in sizes)
            {
                foreach (var engine in plan.Engines)
                {
                    var store = new Store(engine.Name, items, area.StorePath(engine.Name, WorkloadCatalog.ScaleLoad.Store), plan.Limit, progress);
                    var before = progress.Value;
                    progress.Description = string.Create(CultureInfo.InvariantCulture, $"{engine.Name}, {items:N0} items");
                    var row = await store.MeasureAsync(cancellationToken).ConfigureAwait(false);
                    rows.Add(row);
                    if (items == plan.MaxItems && plan.MemoryBytes > 0)
                    {
                        progress.Description += ", less memory";
                        if (await store.MeasureAgainAsync(row, plan.MemoryBytes, cancellationToken).ConfigureAwait(false) is { } again)
                            rows.Add(again);
                    }
                    Directory.Delete(store.Path, recursive: true);
                    progress.Value = before + items;
                }
            }
        }).ConfigureAwait(false);
        return rows;
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

    /// <summary>One engine's store of one size.</summary>
    private sealed record Store(string Engine, long Items, string Path, TimeSpan Limit, ProgressTask Progress)
    {
        public async Task<ScaleRow> MeasureAsync(CancellationToken cancellationToken)
        {
            var isSmall = Items <= CheckedItems;
            var load = await RunAsync(WorkloadCatalog.ScaleLoad, Items, isSmall, cancellationToken).ConfigureAwait(false);

            // The scan before the gets brings the store into memory, as far as it fits.
            var get = await RunAsync(WorkloadCatalog.ScaleGet, Gets, checksStore: true, cancellationToken).ConfigureAwait(false);
            var put = await RunAsync(WorkloadCatalog.ScalePut, Puts, isSmall, cancellationToken).ConfigureAwait(false);
            return new ScaleRow(Engine, Items, ScaleRow.AllMemory, load, get, put);
        }

        /// <summary>Measures gets and puts once more with little memory, or returns null where memory cannot be limited.</summary>
        public async Task<ScaleRow?> MeasureAgainAsync(ScaleRow row, long memoryBytes, CancellationToken cancellationToken)
        {
            LinuxCalls.ForgetDirectory(Path);
            using var limit = MemoryLimit.TrySet(memoryBytes, AnsiConsole.WriteLine);
            if (limit is null)
                return null;
            var get = await RunAsync(WorkloadCatalog.ScaleGet, Gets, checksStore: false, cancellationToken).ConfigureAwait(false);
            var put = await RunAsync(WorkloadCatalog.ScalePut, Puts, checksStore: false, cancellationToken).ConfigureAwait(false);
            var memory = limit.Held ? limit.Description : "limit lost: the system ran out of memory";
            return row with { Memory = memory, Get = get, Put = put };
        }

        private Task<RunResult> RunAsync(WorkloadDefinition workload, long operations, bool checksStore, CancellationToken cancellationToken)
        {
            // Puts are of another round and thus of other keys, so that they do not find pages in memory that the gets read.
            var request = new RunRequest(Engine, workload, Path, Items, operations, Round: workload == WorkloadCatalog.ScalePut ? 1 : 0)
            {
                Limit = workload.CreatesStore ? TimeSpan.Zero : Limit,
                ChecksStore = checksStore,
            };
            return MeasuringSession.RunAsync(request, Progress, workload.CreatesStore ? Items * 0.9 : 0, cancellationToken);
        }
    }
}
