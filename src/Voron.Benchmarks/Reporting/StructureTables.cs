using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Reporting;

/// <summary>The report on fixed-size trees, with their goals.</summary>
internal static class StructureTables
{
    private static readonly string[] TreeColumns =
        ["tree", "entries a commit", "ns a put, ascending", "ns a put, random", "ns a get", "record bytes a put", "page bytes an entry"];

    public static Report Create(IReadOnlyList<FixedTreeRun> trees) => new(
        "Fixed-size trees",
        [
            $"Medians of {trees.GroupBy(run => (run.Tree, run.PerCommit)).Max(runs => runs.Count())} rounds, in one process; trees take turns. Checksums of " +
            "all answers agree.",
            "Entries of 8 + 8 bytes, durable transactions; lookups in random order after a flush.",
        ],
        [Trees(trees), Goals(trees)]);

    private static ReportTable Trees(IReadOnlyList<FixedTreeRun> trees) => new(
        "Fixed-size trees", TextColumns: 1, TreeColumns,
        [
            .. trees.GroupBy(run => (run.PerCommit, run.Tree)).OrderBy(runs => runs.Key).Select(runs => new[]
            {
                runs.Key.Tree,
                Figures.Count(runs.Key.PerCommit),
                Figures.Decimal(Of(runs, run => run.PutNanoseconds)),
                Figures.Decimal(Of(runs, run => run.RandomNanoseconds)),
                Figures.Decimal(Of(runs, run => run.GetNanoseconds)),
                Figures.Decimal(Of(runs, run => run.RecordBytes)),
                Figures.Decimal(Of(runs, run => run.BytesPerEntry)),
            }),
        ]);

    private static ReportTable Goals(IReadOnlyList<FixedTreeRun> trees)
    {
        var rows = new List<string[]>();
        foreach (var (perCommit, goal) in new[] { (100, 2.0), (100_000, 3.0) })
        {
            double Put(string tree) => Of(trees.Where(run => run.Tree == tree && run.PerCommit == perCommit), run => run.PutNanoseconds);
            var measured = Put(FixedTreeRun.Plain) / Put(FixedTreeRun.Fixed);
            rows.Add(
            [
                $"ascending puts, {perCommit:N0} a transaction, beside ordinary ones", Figures.Ratio(measured), Figures.Ratio(goal),
                measured >= goal ? "met" : "missed",
            ]);
        }

        return new ReportTable("Goals", TextColumns: 1, ["figure", "measured", "goal", "verdict"], rows);
    }

    private static double Of<T>(IEnumerable<T> runs, Func<T, double> figure) => Figures.Median(runs.Select(figure));
}
