using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Reporting;

/// <summary>The report on compressed values.</summary>
internal static class CompressionTables
{
    private const double FastGoal = 2;
    private const double ThoroughGoal = 2.6;
    private const double MostMoreNanoseconds = 600;

    public static Report Create(IReadOnlyList<CompressionRun> runs) => new(
        "Compressed values",
        [
            $"Medians of {runs.Max(run => run.Round) + 1} rounds, in one process; ways take turns. Pages of 4 KiB.",
            $"Records: {Figures.Count(runs[0].Records)} of {Figures.Decimal(runs[0].AverageBytes)} bytes on average, with ascending keys of 4 bytes.",
            "Puts: 1,000 in a durable transaction.",
            "Training: a thousand values of a fifth of the records, by one call. Gets: random keys in memory, 1,000 in a read transaction, whose values are read.",
        ],
        [Costs(runs), Goals(runs)]);

    private static ReportTable Costs(IReadOnlyList<CompressionRun> runs) => new(
        "Figures", TextColumns: 1,
        ["compression", "records a leaf", "of plain", "bytes of pages a record", "us a put", "us a get", "managed bytes a get", "ms a training"],
        [
            .. CompressionRun.Ways.Select(way => new[]
            {
                way,
                Figures.Decimal(Of(runs, way, run => run.RecordsPerLeaf)),
                Figures.Ratio(More(runs, way)),
                Figures.Decimal(Of(runs, way, run => run.PagesBytes)),
                Figures.Decimal(Of(runs, way, run => run.PutMicroseconds)),
                Figures.Decimal(Of(runs, way, run => run.GetNanoseconds) / 1e3),
                Figures.Decimal(Of(runs, way, run => run.GetManagedBytes)),
                way == CompressionRun.Plain ? "" : Figures.Decimal(Of(runs, way, run => run.TrainMilliseconds)),
            }),
        ]);

    private static ReportTable Goals(IReadOnlyList<CompressionRun> runs)
    {
        var (fast, thorough) = (nameof(ValueCompression.Fast), nameof(ValueCompression.Thorough));
        var slower = Math.Max(Later(runs, fast), Later(runs, thorough));
        return new ReportTable(
            "Goals", TextColumns: 3, ["goal", "measured", "met"],
            [
                [$"fast: {FastGoal} times the records a leaf", Figures.Ratio(More(runs, fast)), Verdict(More(runs, fast) >= FastGoal)],
                [$"thorough: {ThoroughGoal} times", Figures.Ratio(More(runs, thorough)), Verdict(More(runs, thorough) >= ThoroughGoal)],
                [$"a get {MostMoreNanoseconds / 1e3} us longer", $"{Figures.Decimal(slower / 1e3)} us", Verdict(slower <= MostMoreNanoseconds)],
            ]);
    }

    private static double More(IReadOnlyList<CompressionRun> runs, string way) =>
        Of(runs, CompressionRun.Plain, run => run.PagesBytes) / Of(runs, way, run => run.PagesBytes);

    private static double Later(IReadOnlyList<CompressionRun> runs, string way) =>
        Of(runs, way, run => run.GetNanoseconds) - Of(runs, CompressionRun.Plain, run => run.GetNanoseconds);

    private static string Verdict(bool isMet) => isMet ? "yes" : "no";

    private static double Of(IReadOnlyList<CompressionRun> runs, string way, Func<CompressionRun, double> figure)
    {
        var figures = runs.Where(run => run.Way == way).Select(figure).Order().ToList();
        return figures[figures.Count / 2];
    }
}
