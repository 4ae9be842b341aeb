using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Reporting;

/// <summary>Reports the published workloads, measured and published figures side by side.</summary>
internal static class SeedsReport
{
    public static Report Create(IReadOnlyList<RunResult> results)
    {
        RunResult[] writes = [.. results.Where(result => WorkloadOf(result).Writes)];
        return new(
            "The published workloads",
            [$"{results[0].Engine}: {results[0].Settings}"],
            [Speed(results), Pages(writes), Bytes(writes), Flushes(writes)]);
    }

    private static WorkloadDefinition WorkloadOf(RunResult result) => WorkloadCatalog.Find(result.Workload);

    private static ReportTable Speed(IReadOnlyList<RunResult> results) => Table(
        "Speed",
        ["workload", "items/s", "published", "ratio", "tx/s", "published", "tx p50 us", "tx p99 us", "tx max us", "managed B a tx", "seconds"],
        results.Select(result =>
        {
            var published = PublishedFigures.Of(WorkloadOf(result));
            return (string[])
            [
                WorkloadOf(result).Title,
                Figures.Count(result.OperationsPerSecond),
                Figures.Count(published.ItemsPerSecond),
                Figures.Ratio(result.OperationsPerSecond / published.ItemsPerSecond),
                Figures.Count(result.TransactionsPerSecond),
                Figures.Count(published.TransactionsPerSecond),
                Figures.Microseconds(result.TransactionLatency?.P50Microseconds),
                Figures.Microseconds(result.TransactionLatency?.P99Microseconds),
                Figures.Microseconds(result.TransactionLatency?.MaxMicroseconds),
                Figures.Decimal(result.ManagedBytesPerTransaction),
                Figures.Decimal(result.EngineSeconds),
            ];
        }));

    private static ReportTable Pages(RunResult[] writes) => Table(
        "Pages changed a transaction",
        ["workload", "transactions", "average", "max", "total", "std. deviation"],
        writes.SelectMany(result =>
        {
            var workload = WorkloadOf(result);
            var rows = new List<string[]> { PagesRow(workload.Title, result.Commits?.PagesChanged) };
            if (result.Commits is { } commits)
                rows.Add(PagesRow("  of these, the first", commits.FirstPagesChanged));
            var published = PublishedFigures.Of(workload);
            if (published.PagesAverage is not null)
            {
                rows.Add(
                [
                    "  published",
                    Figures.Count(EngineObserver.PublishedTransactions),
                    Figures.Decimal(published.PagesAverage),
                    Figures.Count(published.PagesMax),
                    Figures.Count(published.PagesTotal),
                    Figures.Decimal(published.PagesStandardDeviation),
                ]);
            }
            return rows;
        }));

    private static string[] PagesRow(string title, NumberSummary? pages) =>
    [
        title,
        Figures.Count(pages?.Count),
        Figures.Decimal(pages?.Average),
        Figures.Count(pages?.Max),
        Figures.Count(pages?.Total),
        Figures.Decimal(pages?.StandardDeviation),
    ];

    private static ReportTable Bytes(RunResult[] writes)
    {
        var first = $"first {EngineObserver.PublishedTransactions:N0} tx";
        return Table(
            "Bytes",
            [
                "workload", "journal a tx", "goal", "less than whole pages by", $"journal, {first}", "published", $"allocated, {first}", "published",
                "allocated at end", "device wrote",
            ],
            writes.Select(result =>
            {
                var published = PublishedFigures.Of(WorkloadOf(result));
                return (string[])
                [
                    WorkloadOf(result).Title,
                    Figures.Bytes(result.Commits?.JournalBytes.Average),
                    Figures.Bytes(published.JournalBytesGoal),
                    Figures.Percent(1 - result.JournalShareOfPages),
                    Figures.Bytes(result.Commits?.FirstJournalBytes.Total),
                    Figures.Bytes(published.JournalBytes),
                    Figures.Bytes(result.AllocatedBytesAtPublishedPoint),
                    Figures.Bytes(published.AllocatedBytes),
                    Figures.Bytes(result.AllocatedBytes),
                    Figures.Bytes(result.DeviceBytesWritten),
                ];
            }));
    }

    private static ReportTable Flushes(RunResult[] writes) => Table(
        "Average flush",
        ["workload", "flushes", "pages", "seeks", "seeks for 250 pages", "leaves", "branches", "overflows", "bytes", "ms"],
        [
            .. writes.Select(result => (string[])
            [
                WorkloadOf(result).Title,
                Figures.Count(result.Flushes?.Pages.Count),
                Figures.Decimal(result.Flushes?.Pages.Average),
                Figures.Decimal(result.Flushes?.Seeks.Average),
                Figures.Decimal(ComparisonTables.SeeksFor250Pages(result)),
                Figures.Decimal(result.Flushes?.Leaves.Average),
                Figures.Decimal(result.Flushes?.Branches.Average),
                Figures.Decimal(result.Flushes?.Overflows.Average),
                Figures.Bytes(result.Flushes?.Bytes.Average),
                Figures.Decimal(result.Flushes?.Milliseconds.Average),
            ]),
            PublishedFlush("published, before sections", PublishedFigures.FlushSeeksBeforeSections),
            PublishedFlush("published, with sections", PublishedFigures.FlushSeeksWithSections),
        ]);

    private static string[] PublishedFlush(string title, string seeks) => [title, "", PublishedFigures.FlushPages, seeks, "", "", "", "", "", ""];

    private static ReportTable Table(string title, string[] columns, IEnumerable<string[]> rows) => new(title, TextColumns: 1, columns, [.. rows]);
}
