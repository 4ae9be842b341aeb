using Columns = Voron.Benchmarks.Reporting.TableOf<Voron.Benchmarks.Reporting.RunResult>;

namespace Voron.Benchmarks.Reporting;

/// <summary>
/// Reports the published workloads, measured and published figures side by side. The published ones are from the engine's own history, from a
/// laptop's disk of 2011; pages and bytes are over 5,000 transactions of 100 items.
/// </summary>
internal static class SeedsReport
{
    private const string FlushedPages = "206 to 250";
    private const double SequentialItemsPerSecond = 450_000;
    private const double RandomItemsPerSecond = SequentialItemsPerSecond / 40;

    private static readonly Published SequentialInsert = new(
        SequentialItemsPerSecond, 4_521, new NumberSummary(EngineObserver.PublishedTransactions, 7.06, 11, 35_320, 0.35), 137e6, 319e6, 16 << 10);

    private static readonly Published RandomInsert = new(
        RandomItemsPerSecond, RandomItemsPerSecond / 100, new NumberSummary(EngineObserver.PublishedTransactions, 111.37, 134, 556_973, 7.09),
        2.1e9, 2.3e9, 20 << 10);

    public static Report Create(IReadOnlyList<RunResult> results)
    {
        RunResult[] writes = [.. results.Where(result => WorkloadOf(result).Writes)];
        return new(
            "The published workloads", [$"{results[0].Engine}: {results[0].Settings}"],
            [Speed.OfEach(results), Pages(writes), Bytes.OfEach(writes), Flushes(writes)]);
    }

    private static Columns Speed => Of("Speed")
        .Count("items/s", run => run.OperationsPerSecond).Count("published", run => PublishedOf(run)?.ItemsPerSecond)
        .Ratio("ratio", run => run.OperationsPerSecond / PublishedOf(run)?.ItemsPerSecond)
        .Count("tx/s", run => run.TransactionsPerSecond).Count("published", run => PublishedOf(run)?.TransactionsPerSecond)
        .Microseconds("tx p50 us", run => run.TransactionLatency?.P50Microseconds)
        .Microseconds("tx p99 us", run => run.TransactionLatency?.P99Microseconds)
        .Microseconds("tx max us", run => run.TransactionLatency?.MaxMicroseconds)
        .Decimal("managed B a tx", run => run.ManagedBytesPerTransaction).Decimal("seconds", run => run.EngineSeconds);

    private static Columns Bytes
    {
        get
        {
            var first = $"first {EngineObserver.PublishedTransactions:N0} tx";
            return Of("Bytes")
                .Bytes("journal a tx", run => run.Commits?.JournalBytes.Average).Bytes("goal", run => PublishedOf(run)?.JournalBytesGoal)
                .Percent("less than whole pages by", run => 1 - run.JournalShareOfPages)
                .Bytes($"journal, {first}", run => run.Commits?.FirstJournalBytes.Total).Bytes("published", run => PublishedOf(run)?.JournalBytes)
                .Bytes($"allocated, {first}", run => run.AllocatedBytesAtPublishedPoint)
                .Bytes("published", run => PublishedOf(run)?.AllocatedBytes)
                .Bytes("allocated at end", run => run.AllocatedBytes).Bytes("device wrote", run => run.DeviceBytesWritten);
        }
    }

    private static ReportTable Pages(RunResult[] writes) => new TableOf<(string Title, NumberSummary? Pages)>("Pages changed a transaction")
        .Text("workload", row => row.Title)
        .Count("transactions", row => row.Pages?.Count).Decimal("average", row => row.Pages?.Average).Count("max", row => row.Pages?.Max)
        .Count("total", row => row.Pages?.Total).Decimal("std. deviation", row => row.Pages?.StandardDeviation)
        .OfEach(writes.SelectMany(PagesOf));

    private static IEnumerable<(string Title, NumberSummary? Pages)> PagesOf(RunResult run)
    {
        yield return (WorkloadOf(run).Title, run.Commits?.PagesChanged);
        if (run.Commits is { } commits)
            yield return ("  of these, the first", commits.FirstPagesChanged);
        if (PublishedOf(run) is { } published)
            yield return ("  published", published.Pages);
    }

    private static ReportTable Flushes(RunResult[] writes)
    {
        var columns = Of("Average flush")
            .Count("flushes", run => run.Flushes?.Pages.Count)
            .Decimal("pages", run => run.Flushes?.Pages.Average).Decimal("seeks", run => run.Flushes?.Seeks.Average)
            .Decimal("seeks for 250 pages", ComparisonTables.SeeksFor250Pages)
            .Decimal("leaves", run => run.Flushes?.Leaves.Average).Decimal("branches", run => run.Flushes?.Branches.Average)
            .Decimal("overflows", run => run.Flushes?.Overflows.Average)
            .Bytes("bytes", run => run.Flushes?.Bytes.Average).Decimal("ms", run => run.Flushes?.Milliseconds.Average);
        return columns.With(
        [
            .. writes.Select(run => columns.Row([run])), PublishedFlush("published, before sections", "170"),
            PublishedFlush("published, with sections", "6 to 13"),
        ]);
    }

    private static string[] PublishedFlush(string title, string seeks) => [title, "", FlushedPages, seeks, "", "", "", "", "", ""];

    private static Columns Of(string title) => new Columns(title).Text("workload", run => WorkloadOf(run).Title);

    private static WorkloadDefinition WorkloadOf(RunResult run) => WorkloadCatalog.Find(run.Workload);

    private static Published? PublishedOf(RunResult run) =>
        run.Workload == WorkloadCatalog.SequentialInsert.Name ? SequentialInsert
        : run.Workload == WorkloadCatalog.RandomInsert.Name ? RandomInsert
        : null;

    private sealed record Published(
        double ItemsPerSecond, double TransactionsPerSecond, NumberSummary Pages, double JournalBytes, double AllocatedBytes,
        double JournalBytesGoal);
}
