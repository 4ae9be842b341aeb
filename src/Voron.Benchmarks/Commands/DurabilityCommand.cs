using System.CommandLine;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures what it costs that a commit is durable when it is acknowledged.</summary>
internal static class DurabilityCommand
{
    private static readonly string[] Columns =
        ["way", "callers", "a power failure takes", "puts/s", "of Durable's", "p50, us", "p99, us", "p99.9, us", "written bytes a put"];

    public static Command Create()
    {
        var output = new OutputOptions();
        var rounds = new Option<int>("--rounds") { Description = "How often each figure is measured.", DefaultValueFactory = _ => 5 };
        var seconds = new Option<int>("--seconds") { Description = "The time of a run.", DefaultValueFactory = _ => 4 };
        rounds.Require(value => value >= 1, "at least 1");
        seconds.Require(value => value >= 1, "at least 1");
        var command = new Command("durability", "Measures durable and lazy commits beside those of SQLite.") { rounds, seconds };
        output.AddTo(command);
        command.SetAction(async (parsed, _) =>
        {
            using var session = output.Begin(parsed);
            session.CheckDevice(1L << 30);
            var runs = await MeasureAsync(session, parsed.GetValue(rounds), TimeSpan.FromSeconds(parsed.GetValue(seconds))).ConfigureAwait(false);
            session.FinishWith(Report(runs), new { session.Machine, runs });
        });
        return command;
    }

    // Each round begins with another way; the first one runs code that is still being compiled.
    private static async Task<List<DurabilityRun>> MeasureAsync(MeasuringSession session, int rounds, TimeSpan duration)
    {
        var runs = new List<DurabilityRun>();
        var ways = DurabilityRun.Ways;
        await MeasuringSession.ShowProgressAsync((rounds + 1) * ways.Count, async progress =>
        {
            for (var round = 0; round <= rounds; round++)
            {
                for (var i = 0; i < ways.Count; i++)
                {
                    var run = await DurabilityRun.MeasureAsync(
                        ways[(i + round) % ways.Count], Path.Combine(session.Area.Path, "durability"), duration).ConfigureAwait(false);
                    if (round > 0)
                        runs.Add(run);
                    progress.Increment(1);
                }
            }
        }).ConfigureAwait(false);
        return runs;
    }

    private static Report Report(List<DurabilityRun> runs) => new(
        "Durable and lazy commits",
        [
            "Single puts of 16 and 100 bytes over random keys of a store of 100,000 items; medians of the rounds, in one process; the ways take turns.",
            "One caller commits transactions, 64 callers use WriteAsync. The rate of lazy commits counts the time until the last of them is durable.",
        ],
        [
            new ReportTable("Commits", TextColumns: 1, Columns, [.. DurabilityRun.Ways.Select(way => Cells(way, runs))]),
        ]);

    private static string[] Cells(DurabilityWay way, List<DurabilityRun> all)
    {
        var durable = DurabilityRun.Ways.First(other => other.Callers == way.Callers && other.Durability == Durability.Durable);
        return
        [
            way.Name, Figures.Count(way.Callers), way.Lost,
            Figures.Count(Median(way, all, run => run.PutsPerSecond)),
            Figures.Ratio(Median(way, all, run => run.PutsPerSecond) / Median(durable, all, run => run.PutsPerSecond)),
            Figures.Microseconds(Median(way, all, run => run.Latency.P50Microseconds)),
            Figures.Microseconds(Median(way, all, run => run.Latency.P99Microseconds)),
            Figures.Microseconds(Median(way, all, run => run.Latency.P999Microseconds)),
            Figures.Count(Median(way, all, run => run.WrittenBytes)),
        ];
    }

    private static double Median(DurabilityWay way, List<DurabilityRun> runs, Func<DurabilityRun, double> figure) =>
        Figures.Median(runs.Where(run => run.Way == way.Name && run.Callers == way.Callers).Select(figure));
}
