using System.Globalization;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Reporting;

/// <summary>The tables about processes that have not warmed up.</summary>
internal static class FirstSecondTables
{
    private const int NameColumns = 2;

    /// <param name="runs">The runs of each workload on each engine.</param>
    public static IEnumerable<ReportTable> Create(IReadOnlyList<(string Workload, string Engine, RunResult[] Runs)> runs)
    {
        var measured = runs.Where(row => row.Runs.Any(run => run.FirstSecond is not null)).ToList();
        if (measured.Count == 0)
            yield break;
        yield return new ReportTable(
            "First second of a process (medians; operations/s within the engine, by time since it began to open the store)",
            NameColumns,
            [
                "workload", "engine", "opening, ms", "first transaction, ms",
                .. Enumerable.Range(0, FirstSecond.ReportedSlices).Select(Label), "third second", "200 to 400 ms, of it",
            ],
            [.. measured.Select(row => Rates(row.Workload, row.Engine, row.Runs))]);
        yield return new ReportTable(
            "Commits of the first second (medians, microseconds)",
            NameColumns + 1,
            ["workload", "engine", "time", "commits", "p50", "mean", "p99", "p99.9", "max"],
            [.. measured.SelectMany(row => Commits(row.Workload, row.Engine, row.Runs))]);
    }

    private static string[] Rates(string workload, string engine, RunResult[] runs) =>
    [
        workload,
        engine,
        Figures.Decimal(Medians.Of(runs, run => run.FirstSecond?.OpeningMilliseconds)),
        Figures.Decimal(Medians.Of(runs, run => run.FirstSecond?.FirstTransactionMilliseconds)),
        .. Enumerable.Range(0, FirstSecond.ReportedSlices)
            .Select(slice => Figures.Count(Medians.Of(runs, run => run.FirstSecond?.Slices[slice].OperationsPerSecond))),
        Figures.Count(Medians.Of(runs, run => run.FirstSecond?.SteadyOperationsPerSecond)),
        Figures.Percent(Medians.Of(runs, run => run.FirstSecond?.EarlyShare)),
    ];

    private static IEnumerable<string[]> Commits(string workload, string engine, RunResult[] runs)
    {
        for (var slice = 0; slice < FirstSecond.ReportedSlices; slice++)
        {
            var index = slice;
            yield return Commits(workload, engine, Label(slice), runs, run => run.FirstSecond?.Slices[index]);
        }

        yield return Commits(workload, engine, "third second", runs, run => run.FirstSecond?.Steady);
    }

    private static string[] Commits(
        string workload, string engine, string time, RunResult[] runs, Func<RunResult, TimeSliceResult?> slice) =>
    [
        workload,
        engine,
        time,
        Figures.Count(Medians.Of(runs, run => slice(run)?.Commits)),
        Figures.Microseconds(Medians.Of(runs, run => slice(run)?.Latency?.P50Microseconds)),
        Figures.Microseconds(Medians.Of(runs, run => slice(run)?.Latency?.MeanMicroseconds)),
        Figures.Microseconds(Medians.Of(runs, run => slice(run)?.Latency?.P99Microseconds)),
        Figures.Microseconds(Medians.Of(runs, run => slice(run)?.Latency?.P999Microseconds)),
        Figures.Microseconds(Medians.Of(runs, run => slice(run)?.Latency?.MaxMicroseconds)),
    ];

    private static string Label(int slice) => string.Create(
        CultureInfo.InvariantCulture, $"{slice * FirstSecond.SliceMilliseconds} to {(slice + 1) * FirstSecond.SliceMilliseconds} ms");
}
