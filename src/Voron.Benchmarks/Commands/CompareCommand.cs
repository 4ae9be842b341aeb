using System.CommandLine;
using Spectre.Console;

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
        var scale = CommandOptions.Scale();
        var rounds = CommandOptions.Rounds(3, "How often each workload is measured. The report shows medians.");
        var engines = CommandOptions.Engines([.. EngineCatalog.Racing.Select(engine => engine.Name)]);
        var only = new Option<string[]>("--workloads", "--only")
        {
            Description = "Measures only these workloads and those that they need.",
            AllowMultipleArgumentsPerToken = true,
            HelpName = "WORKLOAD",
        };
        var limit = CommandOptions.TimeLimit(
            "Stops runs of reads, scans and concurrent callers after this many seconds. Rates are over the operations done. 0 means no limit.",
            DefaultLimitSeconds);
        var svg = CommandOptions.Svg();
        return CommandOptions.Create(
            "compare", "Measures Voron and its peers, each in its own process.",
            (parsed, session, stop) => RunAsync(
                session,
                new Comparison(
                    CommandOptions.FindEngines(parsed.GetRequiredValue(engines)),
                    ComparisonPlan.Select([.. CommandOptions.SplitNames(parsed.GetValue(only) ?? [])], parsed.GetValue(scale)),
                    parsed.GetValue(rounds),
                    TimeSpan.FromSeconds(parsed.GetValue(limit))),
                parsed.GetValue(svg),
                stop),
            scale, rounds, engines, only, limit, svg);
    }

    // A run of the first second ends after three seconds, long before it has stored its items.
    private static long StoredItems(Comparison.Step step) => step.Workload.IsFirstSecond ? Math.Min(step.Items, MostFirstSecondItems) : step.Items;

    private static async Task RunAsync(MeasuringSession session, Comparison comparison, string? svg, CancellationToken stop)
    {
        var installed = comparison.Engines.Count(engine => engine.IsInstalled());
        if (installed == 0)
            throw new BenchmarkException("None of the chosen engines is installed on this machine.");

        // A store is removed when the last workload that needs it is done.
        var largestStore = comparison.Steps.Max(step => StoredItems(step) * (ItemGenerator.KeyBytes + step.Workload.ValueBytes));
        session.CheckDevice(largestStore * SpaceFactor * installed);
        var counts = await CountSyncsAsync(session.Area, comparison, stop).ConfigureAwait(false);
        var results = await MeasureAsync(session.Area, comparison, stop).ConfigureAwait(false);

        // Probed again, because figures from a device that changed its pace in between cannot be trusted.
        session.ProbeRawDevice();
        var report = new ComparisonReport(comparison, results, counts);
        session.Finish(report.Create(), results, counts);
        if (svg is not null)
            report.CreateChart().ToSvg().Save(svg);
        report.RequireAgreement();
    }

    private static async Task<List<SyncCount>> CountSyncsAsync(WorkArea area, Comparison comparison, CancellationToken stop)
    {
        EngineDescriptor[] engines = [.. comparison.AllEngines.Where(engine => engine.IsInstalled())];
        var counts = new List<SyncCount>();
        await MeasuringSession.ShowProgressAsync(engines.Length, async progress =>
        {
            foreach (var engine in engines)
            {
                progress.Description = Markup.Escape($"counting syncs, {engine.Name}");
                counts.Add(await SyncCounter.CountAsync(engine.Name, area, stop).ConfigureAwait(false));
                progress.Increment(1);
            }
        }).ConfigureAwait(false);
        return counts;
    }

    private static async Task<List<RunResult>> MeasureAsync(WorkArea area, Comparison comparison, CancellationToken stop)
    {
        (Comparison.Step Step, EngineDescriptor Engine, int Round)[] runs =
        [
            .. from round in Enumerable.Range(0, comparison.Rounds)
               from step in comparison.Steps
               from engine in MeasuringSession.InTurn(comparison.EnginesOf(step), round - 1, stop)
               select (step, engine, round),
        ];
        var results = new List<RunResult>();
        await MeasuringSession.ShowProgressAsync(runs.Length, async progress =>
        {
            foreach ((var step, var engine, var round) in runs)
            {
                progress.Description = Markup.Escape($"round {round + 1}, {step.Workload.Title}, {engine.Name}");
                var path = area.StorePath(engine.Name, step.Workload.Store);
                var request = new RunRequest(engine.Name, step.Workload, path, step.Items, step.Operations, round) { Limit = comparison.Limit };
                results.Add(await MeasuringSession.RunAsync(request, progress, share: 1, stop).ConfigureAwait(false));
                if (comparison.IsLastOfStore(step, engine))
                    WorkArea.Delete(path);
            }
        }).ConfigureAwait(false);
        return results;
    }
}
