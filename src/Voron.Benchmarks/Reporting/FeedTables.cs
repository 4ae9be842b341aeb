using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Reporting;

/// <summary>The report on change feeds.</summary>
internal static class FeedTables
{
    private const double MostSlower = 1.25;
    private const double LeastChanges = 500_000;

    public static Report Create(IReadOnlyList<FeedRun> runs, IReadOnlyList<LatencySummary> waits) => new(
        "Change feeds",
        [
            $"Medians of {waits.Count} rounds, in one process; ways take turns.",
            "Puts: 16 + 100 bytes with random keys and values into a tree that has 200,000 entries at the beginning; each commit is durable.",
            "Record bytes are those of transaction records. Managed bytes are those of the whole process.",
            "Reading: from the start of the feed, in batches of 256 KiB, each in a read transaction of its own; the best of three passes in a round.",
            "Waiting: one put in each transaction, and the next one after the consumer has the change; from the return of the durable write on.",
        ],
        [Puts(runs), Reads(runs), Waits(waits), Goals(runs)]);

    private static ReportTable Puts(IReadOnlyList<FeedRun> runs)
    {
        var rows = new List<string[]>();
        foreach (var size in runs.GroupBy(run => run.PerCommit))
        {
            foreach (var way in size.GroupBy(run => run.Way).OrderBy(way => Array.IndexOf(FeedRun.Ways, way.Key)))
            {
                rows.Add(
                [
                    way.Key,
                    Figures.Count(size.Key),
                    Figures.Decimal(Of(way, run => run.PutNanoseconds) / 1e3),
                    Figures.Ratio(Slower(runs, way.Key, size.Key)),
                    Figures.Microseconds(Of(way, run => run.CommitMicroseconds)),
                    Figures.Decimal(Of(way, run => run.RecordBytes)),
                    Figures.Decimal(Of(way, run => run.PutManagedBytes)),
                ]);
            }
        }

        return new ReportTable(
            "Puts", TextColumns: 1,
            ["recorded", "puts a commit", "us a put", "time, of no feed's", "median transaction, us", "record bytes a put", "managed bytes a put"],
            rows);
    }

    private static ReportTable Reads(IReadOnlyList<FeedRun> runs) => new(
        "Reading", TextColumns: 1, ["recorded", "puts a commit", "ns a change", "million changes/s", "managed bytes a change"],
        [
            .. runs.Where(run => run.ReadNanoseconds > 0).GroupBy(run => (run.Way, run.PerCommit)).Select(group => new[]
            {
                group.Key.Way,
                Figures.Count(group.Key.PerCommit),
                Figures.Decimal(Of(group, run => run.ReadNanoseconds)),
                Figures.Decimal(1e3 / Of(group, run => run.ReadNanoseconds)),
                Figures.Decimal(Of(group, run => run.ReadManagedBytes)),
            }),
        ]);

    private static ReportTable Waits(IReadOnlyList<LatencySummary> waits) => new(
        "From the commit to the consumer", TextColumns: 0, ["mean, us", "p50, us", "p99, us", "p99.9, us"],
        [
            [
                Figures.Microseconds(Of(waits, wait => wait.MeanMicroseconds)),
                Figures.Microseconds(Of(waits, wait => wait.P50Microseconds)),
                Figures.Microseconds(Of(waits, wait => wait.P99Microseconds)),
                Figures.Microseconds(Of(waits, wait => wait.P999Microseconds)),
            ],
        ]);

    private static ReportTable Goals(IReadOnlyList<FeedRun> runs)
    {
        var goals = new TableGoals();
        foreach (var perCommit in runs.Select(run => run.PerCommit).Distinct())
            goals.AtMost($"puts with values, {perCommit:N0} a commit, time of no feed's", Slower(runs, FeedRun.Values, perCommit), MostSlower);
        var reads = runs.Where(run => run.ReadNanoseconds > 0).GroupBy(run => (run.Way, run.PerCommit));
        var slowest = reads.Max(group => Of(group, run => run.ReadNanoseconds));
        goals.AtLeast("changes read a second, the slowest way", 1e9 / slowest, LeastChanges);
        return goals.ToTable();
    }

    private static double Slower(IReadOnlyList<FeedRun> runs, string way, int perCommit)
    {
        double TimeOf(string other) => Of(runs.Where(run => run.Way == other && run.PerCommit == perCommit), run => run.PutNanoseconds);
        return TimeOf(way) / TimeOf(FeedRun.Unrecorded);
    }

    private static double Of<T>(IEnumerable<T> runs, Func<T, double> figure) => Figures.Median(runs.Select(figure));
}
