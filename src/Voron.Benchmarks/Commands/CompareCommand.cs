using System.CommandLine;
using Spectre.Console;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Processes;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Commands;

/// <summary>
/// Engines beside each other: each run in its own process, rounds interleaved so that a slow minute of the machine hits
/// all alike, the order rotated so that none always goes first.
/// </summary>
internal static class CompareCommand
{
    private const long SequentialItems = 1_000_000;
    private const long RandomItems = 500_000;
    private const long RandomReads = 1_000_000;
    private const long ScannedItems = 5_000_000;
    private const long SinglePuts = 5_000;
    private const int SpaceFactor = 8;

    private static readonly (WorkloadDefinition Workload, long Items, long Operations)[] Plan =
    [
        (WorkloadCatalog.SequentialInsert, SequentialItems, SequentialItems),
        (WorkloadCatalog.RandomInsert, RandomItems, RandomItems),
        (WorkloadCatalog.RandomUpdate, RandomItems, RandomItems),
        (WorkloadCatalog.SinglePut, SinglePuts, SinglePuts),
        (WorkloadCatalog.RandomRead, RandomItems, RandomReads),
        (WorkloadCatalog.ScanForward, RandomItems, ScannedItems),
        (WorkloadCatalog.ScanBackward, RandomItems, ScannedItems),
    ];

    public static Command Create()
    {
        Option<double> scale = CommonOptions.Scale();
        Option<string?> json = CommonOptions.Json();
        Option<string> directory = CommonOptions.Directory();
        Option<bool> keep = CommonOptions.Keep();
        var rounds = new Option<int>("--rounds")
        {
            Description = "How often each is measured; medians are shown.",
            DefaultValueFactory = _ => 3,
        };
        rounds.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<int>() < 1)
                result.AddError("--rounds must be at least 1.");
        });
        var engines = new Option<string[]>("--engines")
        {
            Description = "The engines to compare; ratios are to the first.",
            AllowMultipleArgumentsPerToken = true,
            DefaultValueFactory = _ => [EngineCatalog.Voron, EngineCatalog.Lmdb],
        };
        var only = new Option<string[]>("--only")
        {
            Description = "Only these workloads, with what they need.",
            AllowMultipleArgumentsPerToken = true,
            HelpName = "WORKLOAD",
        };
        var markdown = new Option<string?>("--markdown") { Description = "Also write the tables to this file.", HelpName = "FILE" };
        var command = new Command("compare", "Measures Voron and its peers, each in its own process.")
        {
            scale, rounds, engines, only, json, markdown, directory, keep,
        };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            Comparison comparison = new(
                [.. parsed.GetRequiredValue(engines).Select(EngineCatalog.Find)],
                Select(parsed.GetValue(only) ?? [], parsed.GetValue(scale)),
                parsed.GetValue(rounds));
            using var area = new WorkArea(parsed.GetRequiredValue(directory), parsed.GetValue(keep));
            await RunAsync(area, comparison, parsed.GetValue(json), parsed.GetValue(markdown), cancellationToken).ConfigureAwait(false);
        });
        return command;
    }

    private static Comparison.Step[] Select(string[] only, double scale)
    {
        WorkloadDefinition[] wanted = Array.ConvertAll(only, WorkloadCatalog.Find);
        foreach (WorkloadDefinition workload in wanted)
        {
            if (Plan.All(step => step.Workload != workload))
                throw new BenchmarkException($"'{workload.Name}' is no part of the comparison.");
        }
        HashSet<string> stores = [.. wanted.Select(workload => workload.Store)];
        return
        [
            .. from step in Plan
               let isWanted = wanted.Length == 0 || wanted.Contains(step.Workload)
               where isWanted || (step.Workload.CreatesStore && stores.Contains(step.Workload.Store))
               select new Comparison.Step(step.Workload, Scaling.Apply(step.Items, scale), Scaling.Apply(step.Operations, scale), isWanted),
        ];
    }

    private static async Task RunAsync(
        WorkArea area, Comparison comparison, string? jsonPath, string? markdownPath, CancellationToken cancellationToken)
    {
        EngineDescriptor[] installed = [.. comparison.Engines.Where(engine => engine.IsInstalled())];
        if (installed.Length == 0)
            throw new BenchmarkException("None of the engines is installed.");
        long itemBytes = ItemGenerator.KeyBytes + ItemGenerator.ValueBytes;
        long storedItems = comparison.Steps.Where(step => step.Workload.CreatesStore).Sum(step => step.Items);
        DiskUsage.RequireFreeSpace(area.Path, storedItems * itemBytes * SpaceFactor * installed.Length);

        MachineSummary machine = MachineSummary.Describe(area.Path);
        AnsiConsole.WriteLine(machine.ToString());
        List<ProbeResult> rawDevice = [.. DeviceCommand.Preface(area.Path)];
        List<RunResult> results = await MeasureAsync(area, comparison, installed, cancellationToken).ConfigureAwait(false);

        // Again: a device that changed its pace meanwhile makes figures that should not be believed.
        rawDevice.AddRange(DeviceCommand.Preface(area.Path));
        var report = new CompareReport(comparison, results);
        report.Write(AnsiConsole.Console);
        if (jsonPath is not null)
            new ResultFile(DateTimeOffset.UtcNow, machine, rawDevice, results).Save(jsonPath);
        if (markdownPath is not null)
            await File.WriteAllTextAsync(markdownPath, report.ToMarkdown(machine, rawDevice), cancellationToken).ConfigureAwait(false);
        report.RequireAgreement();
    }

    private static async Task<List<RunResult>> MeasureAsync(
        WorkArea area, Comparison comparison, EngineDescriptor[] engines, CancellationToken cancellationToken)
    {
        var results = new List<RunResult>();
        await AnsiConsole.Progress()
            .AutoClear(true)
            .Columns(new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new RemainingTimeColumn())
            .StartAsync(async context =>
            {
                ProgressTask total = context.AddTask("comparison", maxValue: comparison.Rounds * comparison.Steps.Count * engines.Length);
                for (int round = 0; round < comparison.Rounds; round++)
                {
                    foreach (Comparison.Step step in comparison.Steps)
                    {
                        for (int turn = 0; turn < engines.Length; turn++)
                        {
                            string engine = engines[(turn + round) % engines.Length].Name;
                            total.Description = $"round {round + 1}, {step.Workload.Title}, {engine}";
                            string path = area.StorePath(engine, step.Workload.Store);
                            var request = new RunRequest(engine, step.Workload, path, step.Items, step.Operations, round);
                            double before = total.Value;
                            results.Add(await MeasuringProcess
                                .RunAsync(request, fraction => total.Value = before + fraction, cancellationToken)
                                .ConfigureAwait(false));
                            total.Value = before + 1;
                        }
                    }
                }
            }).ConfigureAwait(false);
        return results;
    }
}
