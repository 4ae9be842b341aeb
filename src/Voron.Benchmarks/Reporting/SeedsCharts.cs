using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Reporting;

/// <summary>Pages, bytes and seeks along a run, as the engine's history published them.</summary>
internal static class SeedsCharts
{
    public static void Save(string directory, IReadOnlyList<RunResult> results)
    {
        Directory.CreateDirectory(directory);
        foreach (RunResult result in results)
        {
            if (result.Series is not { } series)
                continue;
            string title = WorkloadCatalog.Find(result.Workload).Title;
            Write(directory, result, "pages", $"{title}: pages changed a transaction", "pages", Line("pages", series.Pages));
            Write(directory, result, "journal", $"{title}: journal of a transaction", "bytes", Line("bytes", series.JournalBytes));
            Write(
                directory, result, "flushes", $"{title}: pages and seeks of each flush", "count",
                Line("pages", series.FlushPages), Line("seeks", series.FlushSeeks));
            Write(directory, result, "flush-bytes", $"{title}: bytes of each flush", "bytes", Line("bytes", series.FlushBytes));
        }
    }

    private static void Write(
        string directory, RunResult result, string name, string title, string unit, params IReadOnlyList<ChartLine> lines) =>
        File.WriteAllText(
            Path.Combine(directory, $"{result.Workload}-{name}.svg"), SvgChart.Lines(title, "transactions", unit, lines));

    private static ChartLine Line(string name, IReadOnlyList<SeriesPoint> points) =>
        new(name, [.. points.Select(point => ((double)point.At, point.Value))]);
}
