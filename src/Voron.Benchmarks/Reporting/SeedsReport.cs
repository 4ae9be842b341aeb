using System.Text;
using Spectre.Console;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Reporting;

/// <summary>The published workloads, measured beside published.</summary>
internal static class SeedsReport
{
    public static void Write(IAnsiConsole console, IReadOnlyList<RunResult> results)
    {
        foreach (Table table in Sections(results))
            console.Write(table);
    }

    public static string ToMarkdown(MachineSummary machine, IReadOnlyList<RunResult> results)
    {
        var text = new StringBuilder("## The published workloads").AppendLine().AppendLine().AppendLine(machine.ToString());
        text.AppendLine().AppendLine($"- {results[0].Engine}: {results[0].Settings}");
        foreach (Table table in Sections(results))
            MarkdownTable.Append(text, table);
        return text.ToString();
    }

    private static Table[] Sections(IReadOnlyList<RunResult> results) =>
        [Speed(results), Pages(results), Bytes(results), Flushes(results)];

    private static WorkloadDefinition WorkloadOf(RunResult result) => WorkloadCatalog.Find(result.Workload);

    private static Table Speed(IReadOnlyList<RunResult> results)
    {
        Table table = Tables.Create(
            "Speed", "workload", "items/s", "published", "ratio", "tx/s", "published", "tx p50 us", "tx p99 us", "tx max us", "managed B a tx", "seconds");
        foreach (RunResult result in results)
        {
            PublishedWorkload published = PublishedFigures.Of(WorkloadOf(result));
            table.AddRow(
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
                Figures.Decimal(result.EngineSeconds));
        }
        return table;
    }

    private static Table Pages(IReadOnlyList<RunResult> results)
    {
        Table table = Tables.Create("Pages changed a transaction", "workload", "transactions", "average", "max", "total", "std. deviation");
        foreach (RunResult result in results.Where(result => WorkloadOf(result).Writes))
        {
            WorkloadDefinition workload = WorkloadOf(result);
            AddPages(table, workload.Title, result.Commits?.PagesChanged);
            if (result.Commits is { } commits)
                AddPages(table, "  of these, the first", commits.FirstPagesChanged);
            PublishedWorkload published = PublishedFigures.Of(workload);
            if (published.PagesAverage is null)
                continue;
            table.AddRow(
                "  [grey]published[/]",
                Figures.Count(EngineObserver.PublishedTransactions),
                Figures.Decimal(published.PagesAverage),
                Figures.Count(published.PagesMax),
                Figures.Count(published.PagesTotal),
                Figures.Decimal(published.PagesStandardDeviation));
        }
        return table;
    }

    private static void AddPages(Table table, string title, NumberSummary? pages) => table.AddRow(
        title,
        Figures.Count(pages?.Count),
        Figures.Decimal(pages?.Average),
        Figures.Count(pages?.Max),
        Figures.Count(pages?.Total),
        Figures.Decimal(pages?.StandardDeviation));

    private static Table Bytes(IReadOnlyList<RunResult> results)
    {
        string first = $"first {EngineObserver.PublishedTransactions:N0} tx";
        Table table = Tables.Create(
            "Bytes", "workload", "journal a tx", "goal", "less than whole pages by",
            $"journal, {first}", "published", $"allocated, {first}", "published",
            "allocated at end", "device wrote");
        foreach (RunResult result in results.Where(result => WorkloadOf(result).Writes))
        {
            PublishedWorkload published = PublishedFigures.Of(WorkloadOf(result));
            table.AddRow(
                WorkloadOf(result).Title,
                Figures.Bytes(result.Commits?.JournalBytes.Average),
                Figures.Bytes(published.JournalBytesGoal),
                Figures.Percent(1 - result.JournalShareOfPages),
                Figures.Bytes(result.Commits?.FirstJournalBytes.Total),
                Figures.Bytes(published.JournalBytes),
                Figures.Bytes(result.AllocatedBytesAtPublishedPoint),
                Figures.Bytes(published.AllocatedBytes),
                Figures.Bytes(result.AllocatedBytes),
                Figures.Bytes(result.DeviceBytesWritten));
        }
        return table;
    }

    private static Table Flushes(IReadOnlyList<RunResult> results)
    {
        Table table = Tables.Create(
            "Average flush",
            "workload", "flushes", "pages", "seeks", "seeks per 250 pages", "leaves", "branches", "overflows", "bytes", "ms");
        foreach (RunResult result in results.Where(result => WorkloadOf(result).Writes))
        {
            FlushSummary? flushes = result.Flushes;
            table.AddRow(
                WorkloadOf(result).Title,
                Figures.Count(flushes?.Pages.Count),
                Figures.Decimal(flushes?.Pages.Average),
                Figures.Decimal(flushes?.Seeks.Average),
                Figures.Decimal(flushes?.Seeks.Total * 250 / flushes?.Pages.Total),
                Figures.Decimal(flushes?.Leaves.Average),
                Figures.Decimal(flushes?.Branches.Average),
                Figures.Decimal(flushes?.Overflows.Average),
                Figures.Bytes(flushes?.Bytes.Average),
                Figures.Decimal(flushes?.Milliseconds.Average));
        }
        AddPublishedFlush(table, "[grey]published, before sections[/]", PublishedFigures.FlushSeeksBeforeSections);
        AddPublishedFlush(table, "[grey]published, with sections[/]", PublishedFigures.FlushSeeksWithSections);
        return table;
    }

    private static void AddPublishedFlush(Table table, string title, string seeks) =>
        table.AddRow(title, "", PublishedFigures.FlushPages, seeks, "", "", "", "", "", "");
}
