using System.CommandLine;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures what it costs that a commit is durable when it is acknowledged.</summary>
internal static class DurabilityCommand
{
    public static Command Create()
    {
        var rounds = CommandOptions.Rounds();
        var seconds = CommandOptions.Number("--seconds", "The time of a run.", 4);
        return CommandOptions.Create(
            "durability", "Measures durable and lazy commits beside those of SQLite.",
            async (parsed, session, stop) =>
            {
                session.CheckDevice(1L << 30);
                var time = TimeSpan.FromSeconds(parsed.GetValue(seconds));
                var runs = new List<DurabilityRun>();
                await MeasuringSession.RoundsAsync(parsed.GetValue(rounds), async round =>
                {
                    foreach (var way in MeasuringSession.InTurn(DurabilityRun.Ways, round, stop))
                    {
                        var run = await DurabilityRun.MeasureAsync(way, session.Area.Path, time).ConfigureAwait(false);
                        if (round >= 0)
                            runs.Add(run);
                    }
                }).ConfigureAwait(false);
                session.FinishWith(Report(runs), new { session.Machine, runs });
            },
            rounds, seconds);
    }

    private static Report Report(List<DurabilityRun> all) => new(
        "Durable and lazy commits",
        [
            "Single puts of 16 and 100 bytes over random keys of a store of 100,000 items; medians of the rounds, in one process; the ways take turns.",
            "One caller commits transactions, 64 callers use WriteAsync. The rate of lazy commits counts the time until the last of them is durable.",
        ],
        [
            new TableOf<DurabilityRun>("Commits")
                .Text("way", run => run.Way).Count("callers", run => run.Callers).Text("a power failure takes", run => run.Lost)
                .Count("puts/s", run => run.PutsPerSecond)
                .Cell(
                    "of Durable's",
                    runs => Figures.Ratio(
                        Rate(runs) / Rate(all.Where(run => run.Way == DurabilityRun.Durable && run.Callers == runs[0].Callers))))
                .Microseconds("p50, us", run => run.Latency.P50Microseconds).Microseconds("p99, us", run => run.Latency.P99Microseconds)
                .Microseconds("p99.9, us", run => run.Latency.P999Microseconds).Count("written bytes a put", run => run.WrittenBytes)
                .Of(DurabilityRun.Ways.Select(way => all.Where(run => run.Way == way.Name && run.Callers == way.Callers).ToList())),
        ]);

    private static double? Rate(IEnumerable<DurabilityRun> runs) => Figures.Median(runs, run => run.PutsPerSecond);
}
