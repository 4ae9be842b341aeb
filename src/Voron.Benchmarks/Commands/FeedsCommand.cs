using System.CommandLine;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures what a change feed costs the writer, and how fast a consumer follows it.</summary>
internal static class FeedsCommand
{
    private const int MinPuts = 1000;
    private const double MostSlower = 1.25;
    private const double LeastChanges = 500_000;

    private static readonly int[] PutsPerCommit = [1, 10, 100, 1000];

    public static Command Create()
    {
        var rounds = CommandOptions.Rounds();
        var puts = CommandOptions.Number(
            "--puts", "The puts of a run with 1,000 in a transaction; those with fewer have down to a fiftieth.", 500_000, MinPuts);
        return CommandOptions.Create(
            "feeds", "Measures puts into a recorded tree beside others, and a consumer that follows its feed.",
            async (parsed, session, stop) =>
            {
                session.CheckDevice(2000L * parsed.GetValue(puts));
                await MeasureAsync(session, parsed.GetValue(rounds), parsed.GetValue(puts), stop).ConfigureAwait(false);
            },
            rounds, puts);
    }

    private static async Task MeasureAsync(MeasuringSession session, int rounds, int puts, CancellationToken stop)
    {
        var runs = new List<FeedRun>();
        var waits = new List<LatencySummary>();
        await MeasuringSession.RoundsAsync(rounds, async round =>
        {
            var some = MeasureRound(session.Area.Path, round < 0 ? puts / 10 : puts, round, stop);
            var wait = await FeedRun.MeasureWaitAsync(session.Area.Path, round < 0 ? 100 : 2000, stop).ConfigureAwait(false);
            if (round < 0)
                return;
            runs.AddRange(some);
            waits.Add(wait);
        }).ConfigureAwait(false);
        runs = [.. runs.OrderBy(run => run.PerCommit).ThenBy(run => Array.IndexOf(FeedRun.Ways, run.Way))];
        session.FinishWith(Report(runs, waits), new { session.Machine, runs, waits });
    }

    private static List<FeedRun> MeasureRound(string directory, int puts, int round, CancellationToken stop)
    {
        var runs = new List<FeedRun>();
        foreach (var perCommit in PutsPerCommit)
        {
            var some = Math.Max(perCommit, puts / (perCommit switch { 1 => 50, 10 => 10, _ => 1 }) / perCommit * perCommit);
            foreach (var way in MeasuringSession.InTurn(FeedRun.Ways, round, stop))
                runs.Add(FeedRun.Measure(directory, way, some, perCommit, round));
        }

        return runs;
    }

    private static Report Report(List<FeedRun> runs, List<LatencySummary> waits) => new(
        "Change feeds",
        [
            $"Medians of {waits.Count} rounds, in one process; ways take turns.",
            "Puts: 16 + 100 bytes with random keys and values into a tree that has 200,000 entries at the beginning; each commit is durable.",
            "Record bytes are those of transaction records. Managed bytes are those of the whole process.",
            "Reading: from the start of the feed, in batches of 256 KiB, each in a read transaction of its own; the best of three passes in a round.",
            "Waiting: one put in each transaction, and the next one after the consumer has the change; from the return of the durable write on.",
        ],
        [Puts(runs), Reads(runs), Waits(waits), Goals(runs)]);

    private static ReportTable Puts(List<FeedRun> runs) => new TableOf<FeedRun>("Puts")
        .Text("recorded", run => run.Way).Count("puts a commit", run => run.PerCommit)
        .Decimal("us a put", run => run.PutNanoseconds / 1e3)
        .Cell("time, of no feed's", some => Figures.Ratio(Slower(runs, some[0].Way, some[0].PerCommit)))
        .Microseconds("median transaction, us", run => run.CommitMicroseconds)
        .Decimal("record bytes a put", run => run.RecordBytes).Decimal("managed bytes a put", run => run.PutManagedBytes)
        .By(runs, run => (run.Way, run.PerCommit));

    private static ReportTable Reads(List<FeedRun> runs) => new TableOf<FeedRun>("Reading")
        .Text("recorded", run => run.Way).Count("puts a commit", run => run.PerCommit)
        .Decimal("ns a change", run => run.ReadNanoseconds).Decimal("million changes/s", run => 1e3 / run.ReadNanoseconds)
        .Decimal("managed bytes a change", run => run.ReadManagedBytes)
        .By(runs.Where(run => run.ReadNanoseconds > 0), run => (run.Way, run.PerCommit));

    private static ReportTable Waits(List<LatencySummary> waits) =>
        new TableOf<LatencySummary>("From the commit to the consumer", textColumns: 0)
            .Microseconds("mean, us", wait => wait.MeanMicroseconds).Microseconds("p50, us", wait => wait.P50Microseconds)
            .Microseconds("p99, us", wait => wait.P99Microseconds).Microseconds("p99.9, us", wait => wait.P999Microseconds)
            .Of([waits]);

    private static ReportTable Goals(List<FeedRun> runs)
    {
        var goals = new TableGoals();
        foreach (var perCommit in PutsPerCommit)
            goals.AtMost($"puts with values, {perCommit:N0} a commit, time of no feed's", Slower(runs, FeedRun.Values, perCommit), MostSlower);
        var reads = runs.Where(run => run.ReadNanoseconds > 0).GroupBy(run => (run.Way, run.PerCommit));
        var slowest = reads.Max(some => Figures.Median(some, run => run.ReadNanoseconds));
        goals.AtLeast("changes read a second, the slowest way", 1e9 / slowest, LeastChanges);
        return goals.ToTable();
    }

    private static double? Slower(List<FeedRun> runs, string way, int perCommit)
    {
        double? TimeOf(string other) => Figures.Median(runs.Where(run => run.Way == other && run.PerCommit == perCommit), run => run.PutNanoseconds);
        return TimeOf(way) / TimeOf(FeedRun.Unrecorded);
    }
}
