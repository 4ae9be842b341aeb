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
    private const int SpaceFactor = 8;
    private const int DefaultLimitSeconds = 15;

    public static Command Create()
    {
        Option<double> scale = CommonOptions.Scale();
        Option<string?> json = CommonOptions.Json();
        Option<string> directory = CommonOptions.Directory();
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
            Description = "The engines to compare; all that there are unless said.",
            AllowMultipleArgumentsPerToken = true,
            DefaultValueFactory = _ => [.. EngineCatalog.Racing.Select(engine => engine.Name)],
        };
        var only = new Option<string[]>("--workloads", "--only")
        {
            Description = "Only these workloads, with what they need.",
            AllowMultipleArgumentsPerToken = true,
            HelpName = "WORKLOAD",
        };
        var limit = new Option<int>("--time-limit")
        {
            Description = "Seconds after which a run of reads, scans or concurrent callers stops; rates are over what was done. 0 for never.",
            DefaultValueFactory = _ => DefaultLimitSeconds,
            HelpName = "SECONDS",
        };
        Option<string?> markdown = CommonOptions.Markdown();
        var command = new Command("compare", "Measures Voron and its peers, each in its own process.")
        {
            scale, rounds, engines, only, limit, json, markdown, directory,
        };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            Comparison comparison = new(
                [.. CommonOptions.SplitNames(parsed.GetRequiredValue(engines)).Select(EngineCatalog.Find)],
                ComparisonPlan.Select([.. CommonOptions.SplitNames(parsed.GetValue(only) ?? [])], parsed.GetValue(scale)),
                parsed.GetValue(rounds),
                TimeSpan.FromSeconds(parsed.GetValue(limit)));
            using var area = new WorkArea(parsed.GetRequiredValue(directory));
            var outputs = new Outputs(parsed.GetValue(json), parsed.GetValue(markdown));
            await RunAsync(area, comparison, outputs, cancellationToken).ConfigureAwait(false);
        });
        return command;
    }

    private static async Task RunAsync(
        WorkArea area, Comparison comparison, Outputs outputs, CancellationToken cancellationToken)
    {
        EngineDescriptor[] installed = [.. comparison.Engines.Where(engine => engine.IsInstalled())];
        if (installed.Length == 0)
            throw new BenchmarkException("None of the engines is installed.");

        // A store is removed when the last workload that needs it is done.
        long largestStore = comparison.Steps.Max(step => step.Items * (ItemGenerator.KeyBytes + step.Workload.ValueBytes));
        DiskUsage.RequireFreeSpace(area.Path, largestStore * SpaceFactor * installed.Length);

        MachineSummary machine = MachineSummary.Describe(area.Path);
        AnsiConsole.WriteLine(machine.ToString());
        List<ProbeResult> rawDevice = [.. DeviceCommand.Preface(area.Path)];
        List<RunResult> results = await MeasureAsync(area, comparison, cancellationToken).ConfigureAwait(false);

        // Again: a device that changed its pace meanwhile makes figures that should not be believed.
        rawDevice.AddRange(DeviceCommand.Preface(area.Path));
        var report = new ComparisonReport(comparison, results);
        report.Write(AnsiConsole.Console);
        if (outputs.Json is not null)
            new ResultFile(DateTimeOffset.UtcNow, machine, rawDevice, results).Save(outputs.Json);
        if (outputs.Markdown is not null)
            await File.WriteAllTextAsync(outputs.Markdown, report.ToMarkdown(machine, rawDevice), cancellationToken).ConfigureAwait(false);
        report.RequireAgreement();
    }

    private static async Task<List<RunResult>> MeasureAsync(WorkArea area, Comparison comparison, CancellationToken cancellationToken)
    {
        (Comparison.Step Step, EngineDescriptor Engine, int Round)[] runs = [.. Runs(comparison)];
        var results = new List<RunResult>();
        var left = new TimeLeft([.. runs.Select(run => (run.Step.Workload.Name, run.Engine.Name))]);
        await AnsiConsole.Progress()
            .AutoClear(true)
            .Columns(new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn())
            .StartAsync(async context =>
            {
                ProgressTask total = context.AddTask("comparison", maxValue: runs.Length);
                foreach ((Comparison.Step step, EngineDescriptor engine, int round) in runs)
                {
                    string path = area.StorePath(engine.Name, step.Workload.Store);
                    var request = new RunRequest(engine.Name, step.Workload, path, step.Items, step.Operations, round) { Limit = comparison.Limit };
                    double before = results.Count;
                    void Show(double fraction)
                    {
                        total.Description = $"round {round + 1}, {step.Workload.Title}, {engine.Name}{left.Describe(fraction)}";
                        total.Value = before + fraction;
                    }
                    Show(0);
                    results.Add(await MeasuringProcess.RunAsync(request, Show, cancellationToken).ConfigureAwait(false));
                    left.Add(results[^1].ProcessSeconds);
                    total.Value = before + 1;
                    if (comparison.IsLastOfStore(step, engine) && Directory.Exists(path))
                        Directory.Delete(path, recursive: true);
                }
            }).ConfigureAwait(false);
        return results;
    }

    private static IEnumerable<(Comparison.Step Step, EngineDescriptor Engine, int Round)> Runs(Comparison comparison)
    {
        for (int round = 0; round < comparison.Rounds; round++)
        {
            foreach (Comparison.Step step in comparison.Steps)
            {
                EngineDescriptor[] engines = comparison.EnginesOf(step);
                for (int turn = 0; turn < engines.Length; turn++)
                    yield return (step, engines[(turn + round) % engines.Length], round);
            }
        }
    }

    /// <summary>Files to write besides the terminal; null for those not asked for.</summary>
    private sealed record Outputs(string? Json, string? Markdown);
}
