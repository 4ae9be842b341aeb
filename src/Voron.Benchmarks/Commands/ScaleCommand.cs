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
/// The cost of one random get and of one random put, in transactions of 100, as the store grows tenfold at a time; and on the
/// largest store once more with less memory than it needs.
/// </summary>
internal static class ScaleCommand
{
    private const long FirstItems = 10_000;

    /// <summary>Enough for a small store's pages to be read often: what is asked is the cost of a get once it runs.</summary>
    private const long Gets = 2_000_000;
    private const long Puts = 200_000;
    private const int SpaceFactor = 3;
    private const long CheckedItems = 1_000_000;
    private const int DefaultLimitSeconds = 20;
    private const double DefaultFactor = 4;

    public static Command Create()
    {
        Option<string> directory = CommonOptions.Directory();
        Option<string?> json = CommonOptions.Json();
        Option<string?> markdown = CommonOptions.Markdown();
        var max = new Option<long>("--max-items")
        {
            Description = "The largest store; 100000000 items want some 45 GB of free disk.",
            DefaultValueFactory = _ => 10_000_000,
        };
        var min = new Option<long>("--min-items") { Description = "The smallest store.", DefaultValueFactory = _ => FirstItems };
        var engines = new Option<string[]>("--engines")
        {
            Description = "The engines to measure.",
            AllowMultipleArgumentsPerToken = true,
            DefaultValueFactory = _ => [EngineCatalog.Voron, EngineCatalog.Lmdb, EngineCatalog.RocksDb],
        };
        var factor = new Option<double>("--beyond-memory")
        {
            Description = "How many times larger than memory the items of the largest store are when it is measured again; 0 for not at all. "
                + "Memory is limited by a cgroup where one can be made, else by locked memory that leaves only so much free.",
            DefaultValueFactory = _ => DefaultFactor,
        };
        var memory = new Option<long>("--memory-limit")
        {
            Description = "MiB of memory for that, page cache included, instead of the items' size divided by --beyond-memory.",
            HelpName = "MIB",
        };
        var limit = new Option<int>("--time-limit")
        {
            Description = "Seconds after which gets, or puts, stop; the cost is over what was done.",
            DefaultValueFactory = _ => DefaultLimitSeconds,
            HelpName = "SECONDS",
        };
        var command = new Command("scale", "Measures a get and a put as the store grows, and when it no longer fits in memory.")
        {
            directory, min, max, engines, factor, memory, limit, json, markdown,
        };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            EngineDescriptor[] chosen = [.. CommonOptions.SplitNames(parsed.GetRequiredValue(engines)).Select(EngineCatalog.Find)];
            foreach (EngineDescriptor missing in chosen.Where(engine => !engine.IsInstalled()))
                Say($"{missing.Name}: not installed, {missing.InstallHint}");
            long least = Math.Max(1, parsed.GetValue(min));
            long items = Math.Max(least, parsed.GetValue(max));
            long userBytes = items * (ItemGenerator.KeyBytes + ItemGenerator.ValueBytes);
            double times = parsed.GetValue(factor);
            long memoryBytes = parsed.GetValue(memory) > 0 ? parsed.GetValue(memory) << 20 : times > 0 ? (long)(userBytes / times) : 0;
            var plan = new Plan(
                [.. chosen.Where(engine => engine.IsInstalled())], least, items, memoryBytes, TimeSpan.FromSeconds(parsed.GetValue(limit)));

            using var area = new WorkArea(parsed.GetRequiredValue(directory));
            DiskUsage.RequireFreeSpace(area.Path, userBytes * SpaceFactor);
            MachineSummary machine = MachineSummary.Describe(area.Path);
            Say(machine.ToString());
            IReadOnlyList<ProbeResult> rawDevice = DeviceCommand.Preface(area.Path);
            List<ScaleRow> rows = await MeasureAsync(area, plan, cancellationToken).ConfigureAwait(false);
            var report = new ScaleReport(rows);
            report.Write(AnsiConsole.Console);
            if (parsed.GetValue(json) is { } jsonPath)
                new ResultFile(DateTimeOffset.UtcNow, machine, rawDevice, [.. rows.SelectMany(row => row.Results)]).Save(jsonPath);
            if (parsed.GetValue(markdown) is { } markdownPath)
                await File.WriteAllTextAsync(markdownPath, report.ToMarkdown(machine), cancellationToken).ConfigureAwait(false);
            report.RequireAgreement();
        });
        return command;
    }

    private static async Task<List<ScaleRow>> MeasureAsync(WorkArea area, Plan plan, CancellationToken cancellationToken)
    {
        var rows = new List<ScaleRow>();
        await AnsiConsole.Progress()
            .AutoClear(true)
            .Columns(new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new RemainingTimeColumn())
            .StartAsync(async context =>
            {
                // Loading takes nearly all of the time, so items are what is counted.
                long[] sizes = [.. plan.Sizes()];
                ProgressTask total = context.AddTask("scale", maxValue: sizes.Sum() * plan.Engines.Length);
                foreach (long items in sizes)
                {
                    foreach (EngineDescriptor engine in plan.Engines)
                    {
                        double before = total.Value;
                        total.Description = string.Create(CultureInfo.InvariantCulture, $"{engine.Name}, {items:N0} items");
                        string path = area.StorePath(engine.Name, WorkloadCatalog.ScaleLoad.Store);

                        // Another round draws other keys: puts must not find the pages in memory that the gets brought there.
                        Task<RunResult> Measure(WorkloadDefinition workload, long operations, bool checks) => MeasuringProcess.RunAsync(
                            new RunRequest(engine.Name, workload, path, items, operations, Round: workload == WorkloadCatalog.ScalePut ? 1 : 0)
                            {
                                Limit = workload.CreatesStore ? TimeSpan.Zero : plan.Limit,
                                ChecksStore = checks,
                            },
                            fraction => total.Value = workload.CreatesStore ? before + (fraction * items * 0.9) : total.Value,
                            cancellationToken);

                        bool isSmall = items <= CheckedItems;
                        RunResult load = await Measure(WorkloadCatalog.ScaleLoad, items, isSmall).ConfigureAwait(false);

                        // The scan before the gets brings the store into memory, as far as it fits.
                        RunResult get = await Measure(WorkloadCatalog.ScaleGet, Gets, checks: true).ConfigureAwait(false);
                        RunResult put = await Measure(WorkloadCatalog.ScalePut, Puts, isSmall).ConfigureAwait(false);
                        rows.Add(new ScaleRow(engine.Name, items, "all", load, get, put));
                        if (items == plan.MaxItems && plan.MemoryBytes > 0)
                        {
                            total.Description = string.Create(CultureInfo.InvariantCulture, $"{engine.Name}, {items:N0} items, less memory");
                            LinuxFile.ForgetDirectory(path);
                            using MemoryLimit? limit = MemoryLimit.TrySet(plan.MemoryBytes, Say);
                            if (limit is not null)
                            {
                                get = await Measure(WorkloadCatalog.ScaleGet, Gets, checks: false).ConfigureAwait(false);
                                put = await Measure(WorkloadCatalog.ScalePut, Puts, checks: false).ConfigureAwait(false);
                                rows.Add(new ScaleRow(
                                    engine.Name, items, limit.Stood ? limit.Description : "limit lost: the system ran out of memory", load, get, put));
                            }
                        }
                        Directory.Delete(path, recursive: true);
                        total.Value = before + items;
                    }
                }
            }).ConfigureAwait(false);
        return rows;
    }

    private static void Say(string message) => AnsiConsole.WriteLine(message);

    private sealed record Plan(EngineDescriptor[] Engines, long MinItems, long MaxItems, long MemoryBytes, TimeSpan Limit)
    {
        public IEnumerable<long> Sizes()
        {
            for (long items = MinItems; items < MaxItems; items *= 10)
                yield return items;
            yield return MaxItems;
        }
    }
}
