using Voron.Benchmarks.Engines.Tables;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Reporting;

/// <summary>The report on tables, indexes that are built later, and ranges that are deleted, with the goals.</summary>
internal static class TableTables
{
    private static readonly string[] RowColumns =
    [
        "way", "rows", "us a row inserted", "written bytes a row", "us a row changed", "written bytes a change", "us a row by key",
        "us a row of a section", "us a row of a range",
    ];

    private static readonly string[] RatioColumns =
        ["times as fast as", "inserting", "changing", "reading by key", "reading a section", "reading a range"];

    private static readonly string[] SharedColumns = ["index", "rows", "us a row found and read"];

    private static readonly string[] ExpiredColumns = ["call", "rows", "ms", "rows/s"];

    private static readonly string[] BuildColumns = ["way", "rows", "build, ms", "rows/s", "build beside a writer, ms", "rows/s beside it"];

    private static readonly string[] CommitColumns = ["commits", "mean, us", "p50, us", "p99, us", "p99.9, us", "longest, ms"];

    private static readonly string[] DeleteColumns = ["call", "entries", "deleted", "ms", "journal, KiB", "ns an entry"];

    public static Report Create(
        IReadOnlyList<TableRun> tables, IReadOnlyList<SharedIndexRun> shared, IReadOnlyList<ExpiryRun> expired, IReadOnlyList<IndexBuildRun> builds,
        IReadOnlyList<RangeDeleteRun> deletes) => new(
        "Tables",
        [
            "Medians of all rounds, in one process; engines take turns. Checksums of all answers agree.",
            $"Rows: a package of about 500 bytes, with a text as primary key, an index by section ({PackageGenerator.SectionCount} different ones with " +
            "frequencies of 1/rank), one by tag (none to six a row), and a unique one of source and version. Keys are in no order.",
            $"Writes: {TableRun.RowsPerCommit} rows a durable transaction; a third as many random rows are then changed in one number: Voron reads the row " +
            "and replaces it, SQLite runs an UPDATE, LMDB has the bytes of the row patched. Written bytes are all that the process writes, write-back included.",
            $"Reads: all fields of all rows, warm, in one read transaction: by random keys; by section, each section once; and {TableRun.RowsPerRange} rows at " +
            "a time from a random source on in the order of the unique index.",
            "SQLite: Microsoft.Data.Sqlite, WAL, synchronous FULL, prepared statements, other settings default but for the cache where named; tags in a column, " +
            "and in a table whose primary key is tag and row. LMDB: rows by number, sorted duplicates of eight bytes, defaults.",
            "A shared index: half of the rows are in one table, half in another, and the rows of all sections are read, section by section. Rows that are " +
            "due: all rows of a table with three indexes, deleted by one call.",
            $"Index by section built over a table with the other indexes. The writer beside it changes {IndexBuildRun.RowsPerCommit} rows in each durable " +
            "transaction, and computes for 100 us after it. SQLite has no writer meanwhile.",
            $"Deleting: a tree of entries of {RangeDeleteRun.KeyBytes} + {RangeDeleteRun.ValueBytes} bytes, loaded in order; one tenth goes in one durable " +
            "transaction.",
        ],
        [
            .. TablesOf(tables, Rows, Ratios, Variants), .. TablesOf(shared, Shared), .. TablesOf(expired, Expired),
            .. TablesOf(builds, Builds, Commits), .. TablesOf(deletes, Deletes),
            .. tables.Count + builds.Count + deletes.Count > 0 ? [Goals(tables, builds, deletes)] : Array.Empty<ReportTable>(),
        ]);

    private static IEnumerable<ReportTable> TablesOf<T>(IReadOnlyList<T> runs, params Func<IReadOnlyList<T>, ReportTable>[] tables) =>
        runs.Count > 0 ? tables.Select(table => table(runs)) : [];

    private static ReportTable Rows(IReadOnlyList<TableRun> tables) => RowsOf("Rows with three indexes", Ways(tables, TableCatalog.All));

    private static ReportTable Variants(IReadOnlyList<TableRun> tables) =>
        RowsOf("Tables with more", Ways(tables, [.. TableCatalog.All.Where(way => way.Name == TableCatalog.Own), .. TableCatalog.Variants]));

    private static ReportTable RowsOf(string title, IEnumerable<IReadOnlyList<TableRun>> ways) => new(
        title, TextColumns: 1, RowColumns,
        [
            .. ways.Select(runs => new[]
            {
                runs[0].Way,
                Figures.Count(runs[0].Rows),
                Figures.Decimal(Of(runs, run => run.InsertNanoseconds) / 1e3),
                Figures.Count(Of(runs, run => run.InsertBytes)),
                Figures.Decimal(Of(runs, run => run.UpdateNanoseconds) / 1e3),
                Figures.Count(Of(runs, run => run.UpdateBytes)),
                Figures.Decimal(Of(runs, run => run.GetNanoseconds) / 1e3),
                Figures.Decimal(Of(runs, run => run.SectionNanoseconds) / 1e3),
                Figures.Decimal(Of(runs, run => run.SourceNanoseconds) / 1e3),
            }),
        ]);

    private static ReportTable Ratios(IReadOnlyList<TableRun> tables) => new(
        "Voron and its peers", TextColumns: 1, RatioColumns,
        [
            .. Ways(tables, TableCatalog.All).Where(runs => runs[0].Way != TableCatalog.Own).Select(runs => new[]
            {
                runs[0].Way,
                Figures.Ratio(Ratio(tables, runs[0].Way, run => run.InsertNanoseconds)),
                Figures.Ratio(Ratio(tables, runs[0].Way, run => run.UpdateNanoseconds)),
                Figures.Ratio(Ratio(tables, runs[0].Way, run => run.GetNanoseconds)),
                Figures.Ratio(Ratio(tables, runs[0].Way, run => run.SectionNanoseconds)),
                Figures.Ratio(Ratio(tables, runs[0].Way, run => run.SourceNanoseconds)),
            }),
        ]);

    private static ReportTable Shared(IReadOnlyList<SharedIndexRun> shared) => new(
        "Rows of two tables", TextColumns: 1, SharedColumns,
        [
            Cells("the shared one", shared, run => run.SharedNanoseconds),
            Cells("that of each table", shared, run => run.EachNanoseconds),
        ]);

    private static string[] Cells(string index, IReadOnlyList<SharedIndexRun> shared, Func<SharedIndexRun, double> nanoseconds) =>
        [index, Figures.Count(shared[0].Rows), Figures.Decimal(Of(shared, nanoseconds) / 1e3)];

    private static ReportTable Expired(IReadOnlyList<ExpiryRun> expired)
    {
        var milliseconds = Of(expired, run => run.Milliseconds);
        return new(
            "Rows that are due", TextColumns: 1, ExpiredColumns,
            [["DeleteExpiredAsync", Figures.Count(expired[0].Rows), Figures.Decimal(milliseconds), Figures.Count(expired[0].Rows / milliseconds * 1e3)]]);
    }

    private static ReportTable Builds(IReadOnlyList<IndexBuildRun> builds) => new(
        "An index built later", TextColumns: 1, BuildColumns,
        [
            .. builds.GroupBy(run => run.Way).Select(runs => new[]
            {
                runs.Key,
                Figures.Count(runs.First().Rows),
                Figures.Decimal(Of(runs, run => run.Milliseconds)),
                Figures.Count(runs.First().Rows / Of(runs, run => run.Milliseconds) * 1e3),
                Figures.Decimal(OfAny(runs, run => run.BesideMilliseconds)),
                Figures.Count(runs.First().Rows / OfAny(runs, run => run.BesideMilliseconds) * 1e3),
            }),
        ]);

    private static ReportTable Commits(IReadOnlyList<IndexBuildRun> builds) => new(
        "Commits of the writer", TextColumns: 1, CommitColumns,
        [Cells("nothing beside them", builds, run => run.Alone), Cells("while the index is built", builds, run => run.Beside)]);

    private static string[] Cells(string what, IReadOnlyList<IndexBuildRun> builds, Func<IndexBuildRun, LatencySummary?> commits)
    {
        double? Of(Func<LatencySummary, double> figure) => OfAny(builds, run => commits(run) is { } some ? figure(some) : null);
        return
        [
            what,
            Figures.Microseconds(Of(some => some.MeanMicroseconds)),
            Figures.Microseconds(Of(some => some.P50Microseconds)),
            Figures.Microseconds(Of(some => some.P99Microseconds)),
            Figures.Microseconds(Of(some => some.P999Microseconds)),
            Figures.Decimal(Of(some => some.MaxMicroseconds) / 1e3),
        ];
    }

    private static ReportTable Deletes(IReadOnlyList<RangeDeleteRun> deletes) => new(
        "A tenth of a tree deleted", TextColumns: 1, DeleteColumns,
        [Cells("DeleteRange", deletes, run => run.Range), Cells("Delete of a cursor", deletes, run => run.Cursor)]);

    private static string[] Cells(string call, IReadOnlyList<RangeDeleteRun> deletes, Func<RangeDeleteRun, TenthDeleted> way)
    {
        var milliseconds = Of(deletes, run => way(run).Milliseconds);
        return
        [
            call,
            Figures.Count(deletes[0].Entries),
            Figures.Count(way(deletes[0]).Entries),
            Figures.Decimal(milliseconds),
            Figures.Decimal(Of(deletes, run => way(run).JournalBytes) / 1024),
            Figures.Decimal(milliseconds * 1e6 / way(deletes[0]).Entries),
        ];
    }

    private static ReportTable Goals(IReadOnlyList<TableRun> tables, IReadOnlyList<IndexBuildRun> builds, IReadOnlyList<RangeDeleteRun> deletes)
    {
        var goals = new TableGoals();
        if (tables.Count > 0)
        {
            goals.AtLeast("inserting, times as fast as SQLite", Ratio(tables, TableCatalog.Sqlite, run => run.InsertNanoseconds), 4);
            goals.AtLeast("inserting, times as fast as LMDB", Ratio(tables, TableCatalog.Lmdb, run => run.InsertNanoseconds), 2);
            goals.AtLeast("changing a number, times as fast as SQLite", Ratio(tables, TableCatalog.Sqlite, run => run.UpdateNanoseconds), 6);
            goals.AtLeast("reading by key, times as fast as SQLite", Ratio(tables, TableCatalog.Sqlite, run => run.GetNanoseconds), 4);
            goals.AtLeast("reading a section, times as fast as SQLite", Ratio(tables, TableCatalog.Sqlite, run => run.SectionNanoseconds), 3);
            goals.AtLeast("reading a range, times as fast as SQLite", Ratio(tables, TableCatalog.Sqlite, run => run.SourceNanoseconds), 3);
        }

        if (builds.Count > 0)
        {
            var own = builds.Where(run => run.Way == TableCatalog.Own).ToList();
            goals.AtLeast("building an index, thousand rows a second", own[0].Rows / Of(own, run => run.Milliseconds), 300);
            goals.AtMost("commits beside it, p99.9, ms", OfAny(own, run => run.Beside?.P999Microseconds) / 1e3, 10);
        }

        if (deletes.Count > 0)
        {
            var range = Of(deletes, run => run.Range.Milliseconds);
            goals.AtMost("deleting a tenth as a range, ms", range, 40);
            goals.AtMost("deleting a tenth as a range, KiB of journal", Of(deletes, run => run.Range.JournalBytes) / 1024, 64);
            goals.AtLeast("deleting a tenth as a range, times as fast as by cursor", Of(deletes, run => run.Cursor.Milliseconds) / range, 50);
        }

        return goals.ToTable();
    }

    private static IEnumerable<IReadOnlyList<TableRun>> Ways(IReadOnlyList<TableRun> tables, IReadOnlyList<TableWay> ways) =>
        ways.Select(way => tables.Where(run => run.Way == way.Name).ToList()).Where(runs => runs.Count > 0);

    /// <summary>The time of a peer, divided by this engine's; null if the peer was not measured.</summary>
    private static double? Ratio(IReadOnlyList<TableRun> tables, string peer, Func<TableRun, double?> figure) =>
        OfAny(tables.Where(run => run.Way == peer), figure) / OfAny(tables.Where(run => run.Way == TableCatalog.Own), figure);

    private static double Of<T>(IEnumerable<T> runs, Func<T, double> figure) => Figures.Median(runs.Select(figure));

    private static double? OfAny<T>(IEnumerable<T> runs, Func<T, double?> figure)
    {
        double[] values = [.. runs.Select(figure).OfType<double>()];
        return values.Length > 0 ? Figures.Median(values) : null;
    }
}
