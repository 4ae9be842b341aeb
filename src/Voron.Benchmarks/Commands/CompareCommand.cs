using System.CommandLine;
using Spectre.Console;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Processes;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Commands;

/// <summary>
/// Compares engines. Each run has its own process. Rounds are interleaved, so that a slow minute of the machine affects all engines
/// alike, and the order rotates, so that none always goes first.
/// </summary>
internal static class CompareCommand
{
    private const int SpaceFactor = 8;
    private const int DefaultLimitSeconds = 15;

    /// <summary>More than any engine has stored after the three seconds of a run of the first second.</summary>
    private const long MostFirstSecondItems = 5_000_000;

    public static Command Create()
    {
        var output = new OutputOptions();
        var scale = CommonOptions.Scale();
        var rounds = new Option<int>("--rounds")
        {
            Description = "How often each workload is measured. The report shows medians.",
            DefaultValueFactory = _ => 3,
        };
        rounds.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<int>() < 1)
                result.AddError("--rounds must be at least 1.");
        });
        var engines = CommonOptions.Engines([.. EngineCatalog.Racing.Select(engine => engine.Name)]);
        var only = new Option<string[]>("--workloads", "--only")
        {
            Description = "Measures only these workloads and those that they need.",
            AllowMultipleArgumentsPerToken = true,
            HelpName = "WORKLOAD",
        };
        var limit = CommonOptions.TimeLimit(
            "Stops runs of reads, scans and concurrent callers after this many seconds. Rates are over the operations done. 0 means no limit.",
            DefaultLimitSeconds);
        var command = new Command("compare", "Measures Voron and its peers, each in its own process.") { scale, rounds, engines, only, limit };
        output.AddTo(command);
        command.SetAction(async (parsed, cancellationToken) =>
        {
            Comparison comparison = new(
                CommonOptions.FindEngines(parsed.GetRequiredValue(engines)),
                ComparisonPlan.Select([.. CommonOptions.SplitNames(parsed.GetValue(only) ?? [])], parsed.GetValue(scale)),
                parsed.GetValue(rounds),
                TimeSpan.FromSeconds(parsed.GetValue(limit)));
            using var session = output.Begin(parsed);
            await RunAsync(session, comparison, cancellationToken).ConfigureAwait(false);
        });
        return command;
    }

    // A run of the first second ends after three seconds, long before it has stored its items.
    private static long StoredItems(Comparison.Step step) => step.Workload.IsFirstSecond ? Math.Min(step.Items, MostFirstSecondItems) : step.Items;

    private static async Task RunAsync(MeasuringSession session, Comparison comparison, CancellationToken cancellationToken)
    {
        var installed = comparison.Engines.Count(engine => engine.IsInstalled());
        if (installed == 0)
            throw new BenchmarkException("None of the chosen engines is installed on this machine.");

        // A store is removed when the last workload that needs it is done.
        var largestStore = comparison.Steps.Max(step => StoredItems(step) * (ItemGenerator.KeyBytes + step.Workload.ValueBytes));
        session.CheckDevice(largestStore * SpaceFactor * installed);
        var results = await MeasureAsync(session.Area, comparison, cancellationToken).ConfigureAwait(false);

        // Probed again, because figures from a device that changed its pace in between cannot be trusted.
        session.ProbeRawDevice();
        var report = new ComparisonReport(comparison, results);
        session.Finish(report.Create(), results);
        report.RequireAgreement();
    }

    private static async Task<List<RunResult>> MeasureAsync(WorkArea area, Comparison comparison, CancellationToken cancellationToken)
    {
        (Comparison.Step Step, EngineDescriptor Engine, int Round)[] runs = [.. Runs(comparison)];
        var results = new List<RunResult>();
        await MeasuringSession.ShowProgressAsync(runs.Length, async progress =>
        {
            foreach ((var step, var engine, var round) in runs)
            {
                progress.Description = Markup.Escape($"round {round + 1}, {step.Workload.Title}, {engine.Name}");
                var path = area.StorePath(engine.Name, step.Workload.Store);
                var request = new RunRequest(engine.Name, step.Workload, path, step.Items, step.Operations, round) { Limit = comparison.Limit };
                results.Add(await MeasuringSession.RunAsync(request, progress, share: 1, cancellationToken).ConfigureAwait(false));
                if (comparison.IsLastOfStore(step, engine) && Directory.Exists(path))
                    Directory.Delete(path, recursive: true);
            }
        }).ConfigureAwait(false);
        return results;
    }

    private static IEnumerable<(Comparison.Step Step, EngineDescriptor Engine, int Round)> Runs(Comparison comparison)
    {
        for (var round = 0; round < comparison.Rounds; round++)
        {
            foreach (var step in comparison.Steps)
            {
                var engines = comparison.EnginesOf(step);
                for (var turn = 0; turn < engines.Length; turn++)
                    yield return (step, engines[(turn + round) % engines.Length], round);
            }
        }
    }
}
