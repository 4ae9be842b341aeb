using Voron.Benchmarks.Engines.Counters;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Reporting;

/// <summary>The report on counters, dropped trees and attached objects.</summary>
internal static class BuildingBlockTables
{
    private static readonly string[] CounterColumns =
    [
        "way", "increments a commit", "ns an increment", "increments/s", "time, of Increment's", "record bytes an increment",
        "written bytes an increment", "reading all, ms",
    ];

    private static readonly string[] CommitColumns = ["commits", "mean, us", "p50, us", "p99, us", "p99.9, us", "longest, ms"];

    public static Report Create(
        long bytes, IReadOnlyList<CounterRun> counters, IReadOnlyList<DropRound> drops, IReadOnlyList<AttachedStateRound> states) => new(
        "Counters, dropped trees and attached objects",
        [
            $"Medians of {drops.Count} rounds, in one process; engines and ways take turns.",
            $"Counters: the words of a text, {WordStream.Vocabulary:N0} different ones with frequencies of 1/rank. The store has each word once before; " +
            "each commit is durable. The checksums of all counters agree.",
            "Record bytes are those of transaction records; written bytes are all that the process writes meanwhile, flushes and compactions included.",
            $"Dropped trees: a tree of {Figures.Bytes(bytes)}, items of 508 bytes. The writer beside it replaces ten random items of 104 bytes of another tree in " +
            "each durable transaction, and computes for 100 us after it.",
            "Attached objects: environments in memory.",
        ],
        [Counters(counters), Commits(drops), Drops(drops), States(states)]);

    private static ReportTable Counters(IReadOnlyList<CounterRun> counters)
    {
        var rows = new List<string[]>();
        foreach (var size in counters.GroupBy(run => run.IncrementsPerCommit))
        {
            var own = Figures.Median(size.Where(run => run.Way == CounterCatalog.Increment).Select(run => run.Nanoseconds));
            foreach (var way in CounterCatalog.All)
            {
                CounterRun[] runs = [.. size.Where(run => run.Way == way.Name)];
                rows.Add(runs.Length == 0 ? [way.Name + " (not installed)", .. CounterColumns[1..].Select(_ => Figures.None)] : Cells(runs, own));
            }
        }

        return new ReportTable("Counters", TextColumns: 1, CounterColumns, rows);
    }

    private static string[] Cells(CounterRun[] runs, double own)
    {
        var nanoseconds = Figures.Median(runs.Select(run => run.Nanoseconds));
        double? records = runs[0].RecordBytes == null ? null : Figures.Median(runs.Select(run => run.RecordBytes!.Value));
        return
        [
            runs[0].Way,
            Figures.Count(runs[0].IncrementsPerCommit),
            Figures.Count(nanoseconds),
            Figures.Count(1e9 / nanoseconds),
            Figures.Ratio(nanoseconds / own),
            Figures.Decimal(records),
            Figures.Decimal(Figures.Median(runs.Select(run => run.WrittenBytes))),
            Figures.Decimal(Figures.Median(runs.Select(run => run.ScanMilliseconds))),
        ];
    }

    private static ReportTable Commits(IReadOnlyList<DropRound> drops) => new(
        "Commits beside a tree that goes", TextColumns: 1, CommitColumns,
        [
            Cells("nothing beside them", [.. drops.Select(round => round.Alone)]),
            Cells("beside DropTreeAsync", [.. drops.Select(round => round.BesideDrop)]),
            Cells("beside DeleteTree", [.. drops.Select(round => round.BesideDelete)]),
        ]);

    private static string[] Cells(string what, LatencySummary[] rounds)
    {
        double Of(Func<LatencySummary, double> figure) => Figures.Median(rounds.Select(figure));
        return
        [
            what,
            Figures.Microseconds(Of(round => round.MeanMicroseconds)),
            Figures.Microseconds(Of(round => round.P50Microseconds)),
            Figures.Microseconds(Of(round => round.P99Microseconds)),
            Figures.Microseconds(Of(round => round.P999Microseconds)),
            Figures.Decimal(Of(round => round.MaxMicroseconds) / 1e3),
        ];
    }

    private static ReportTable Drops(IReadOnlyList<DropRound> drops)
    {
        double Of(Func<DropRound, double> figure) => Figures.Median(drops.Select(figure));
        return new ReportTable(
            "The tree itself", TextColumns: 1, ["call", "until its pages are free, ms", "freed pages", "ns a page"],
            [
                Cells("DropTreeAsync, beside the writer", Of(round => round.DropMilliseconds), Of(round => round.DroppedPages)),
                Cells("DeleteTree, with the writer held for all of it", Of(round => round.DeleteMilliseconds), Of(round => round.DeletedPages)),
            ]);

        static string[] Cells(string call, double milliseconds, double pages) =>
            [call, Figures.Decimal(milliseconds), Figures.Count(pages), Figures.Count(milliseconds * 1e6 / pages)];
    }

    private static ReportTable States(IReadOnlyList<AttachedStateRound> states)
    {
        double Of(Func<AttachedStateRound, double> figure) => Figures.Median(states.Select(figure));
        var without = Of(round => round.Without);
        return new ReportTable(
            "Beginnings of read transactions", TextColumns: 1, ["calls", "ns", "more than without, ns"],
            [
                ["BeginRead and Dispose, nothing attached", Figures.Decimal(without), Figures.None],
                Cells("BeginRead and Dispose, an object attached", Of(round => round.With)),
                Cells("BeginRead, TryGetState and Dispose", Of(round => round.WithLookup)),
            ]);

        string[] Cells(string calls, double nanoseconds) => [calls, Figures.Decimal(nanoseconds), Figures.Decimal(nanoseconds - without)];
    }
}
