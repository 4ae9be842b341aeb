namespace Voron.Benchmarks.Reporting;

/// <summary>All that the command <c>tables</c> has measured.</summary>
internal sealed class TableFigures
{
    public List<TableRun> Tables { get; } = [];
    public List<SharedIndexRun> Shared { get; } = [];
    public List<ExpiryRun> Expired { get; } = [];
    public List<IndexBuildRun> Builds { get; } = [];
    public List<RangeDeleteRun> Deletes { get; } = [];
}

/// <summary>The report on tables, indexes that are built later, and ranges that are deleted, with the goals.</summary>
internal static class TablesReport
{
    public static Report Create(TableFigures figures) => new(
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
            $"Index by section built over a table with the other indexes. A writer meanwhile changes {IndexBuildRun.RowsPerCommit} rows in each durable " +
            "transaction, and computes for 100 us after it. SQLite has no writer meanwhile.",
            $"Deleting: a tree of entries of {RangeDeleteRun.KeyBytes} + {RangeDeleteRun.ValueBytes} bytes, loaded in order; one tenth goes in one durable " +
            "transaction.",
        ],
        [
            Rows("Rows with three indexes", figures.Tables, TableCatalog.All), Ratios(figures.Tables),
            Rows("Tables with more", figures.Tables, [.. TableCatalog.All.Where(way => way.Name == TableCatalog.Own), .. TableCatalog.Variants]),
            .. Others(figures), Goals(figures),
        ]);

    private static ReportTable Rows(string title, List<TableRun> tables, IReadOnlyList<TableWay> ways) => new TableOf<TableRun>(title)
        .Text("way", run => run.Way).Count("rows", run => run.Rows)
        .Decimal("us a row inserted", run => run.InsertNanoseconds / 1e3).Count("written bytes a row", run => run.InsertBytes)
        .Decimal("us a row changed", run => run.UpdateNanoseconds / 1e3).Count("written bytes a change", run => run.UpdateBytes)
        .Decimal("us a row by key", run => run.GetNanoseconds / 1e3).Decimal("us a row of a section", run => run.SectionNanoseconds / 1e3)
        .Decimal("us a row of a range", run => run.SourceNanoseconds / 1e3)
        .Of(Ways(tables, ways));

    private static ReportTable Ratios(List<TableRun> tables)
    {
        Func<IReadOnlyList<TableRun>, string> To(Func<TableRun, double?> figure) => runs => Figures.Ratio(Ratio(tables, runs[0].Way, figure));
        return new TableOf<TableRun>("Voron and its peers")
            .Text("times as fast as", run => run.Way)
            .Cell("inserting", To(run => run.InsertNanoseconds)).Cell("changing", To(run => run.UpdateNanoseconds))
            .Cell("reading by key", To(run => run.GetNanoseconds)).Cell("reading a section", To(run => run.SectionNanoseconds))
            .Cell("reading a range", To(run => run.SourceNanoseconds))
            .Of(Ways(tables, [.. TableCatalog.All.Where(way => way.Name != TableCatalog.Own)]));
    }

    private static IEnumerable<ReportTable> Others(TableFigures figures) =>
    [
        new TableOf<(string Index, int Rows, double Nanoseconds)>("Rows of two tables")
            .Text("index", run => run.Index).Count("rows", run => run.Rows).Decimal("us a row found and read", run => run.Nanoseconds / 1e3)
            .By(
                [
                    .. figures.Shared.Select(run => ("the shared one", run.Rows, run.SharedNanoseconds)),
                    .. figures.Shared.Select(run => ("that of each table", run.Rows, run.EachNanoseconds)),
                ],
                run => run.Index),
        new TableOf<ExpiryRun>("Rows that are due")
            .Text("call", _ => "DeleteExpiredAsync").Count("rows", run => run.Rows).Decimal("ms", run => run.Milliseconds)
            .Count("rows/s", run => run.Rows / run.Milliseconds * 1e3)
            .By(figures.Expired, _ => 0),
        new TableOf<IndexBuildRun>("An index built later")
            .Text("way", run => run.Way).Count("rows", run => run.Rows)
            .Decimal("build, ms", run => run.Milliseconds).Count("rows/s", run => run.Rows / run.Milliseconds * 1e3)
            .Decimal("build while a writer runs, ms", run => run.BesideMilliseconds)
            .Count("rows/s while a writer runs", run => run.Rows / run.BesideMilliseconds * 1e3)
            .By(figures.Builds, run => run.Way),
        new TableOf<(string What, LatencySummary? Commits)>("Commits of the writer")
            .Text("commits", row => row.What).Microseconds("mean, us", row => row.Commits?.MeanMicroseconds)
            .Microseconds("p50, us", row => row.Commits?.P50Microseconds).Microseconds("p99, us", row => row.Commits?.P99Microseconds)
            .Microseconds("p99.9, us", row => row.Commits?.P999Microseconds).Decimal("longest, ms", row => row.Commits?.MaxMicroseconds / 1e3)
            .By(
                [
                    .. figures.Builds.Select(run => ("no index is built", run.Alone)),
                    .. figures.Builds.Select(run => ("while the index is built", run.Beside)),
                ],
                row => row.What),
        new TableOf<(string Call, long Entries, TenthDeleted Tenth)>("A tenth of a tree deleted")
            .Text("call", run => run.Call).Count("entries", run => run.Entries).Count("deleted", run => run.Tenth.Entries)
            .Decimal("ms", run => run.Tenth.Milliseconds).Decimal("journal, KiB", run => run.Tenth.JournalBytes / 1024.0)
            .Decimal("ns an entry", run => run.Tenth.Milliseconds * 1e6 / run.Tenth.Entries)
            .By(
                [
                    .. figures.Deletes.Select(run => ("DeleteRange", run.Entries, run.Range)),
                    .. figures.Deletes.Select(run => ("Delete of a cursor", run.Entries, run.Cursor)),
                ],
                run => run.Call),
    ];

    private static ReportTable Goals(TableFigures figures)
    {
        var goals = new TableGoals();
        var (tables, builds, deletes) = (figures.Tables, figures.Builds, figures.Deletes);
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
            goals.AtLeast("building an index, thousand rows a second", own[0].Rows / Figures.Median(own, run => run.Milliseconds), 600);
            goals.AtMost("commits during the build, p99.9, ms", Figures.Median(own, run => run.Beside?.P999Microseconds) / 1e3, 10);
        }

        if (deletes.Count > 0)
        {
            var range = Figures.Median(deletes, run => run.Range.Milliseconds);
            goals.AtMost("deleting a tenth as a range, ms", range, 40);
            goals.AtMost("deleting a tenth as a range, KiB of journal", Figures.Median(deletes, run => run.Range.JournalBytes) / 1024, 64);
            goals.AtLeast(
                "deleting a tenth as a range, times as fast as by cursor", Figures.Median(deletes, run => run.Cursor.Milliseconds) / range, 50);
        }

        return goals.ToTable();
    }

    private static IEnumerable<IReadOnlyList<TableRun>> Ways(List<TableRun> tables, IReadOnlyList<TableWay> ways) =>
        ways.Select(way => tables.Where(run => run.Way == way.Name).ToList()).Where(runs => runs.Count > 0);

    /// <summary>The time of a peer, divided by this engine's; null if the peer was not measured.</summary>
    private static double? Ratio(List<TableRun> tables, string peer, Func<TableRun, double?> figure) =>
        Figures.Median(tables.Where(run => run.Way == peer), figure) / Figures.Median(tables.Where(run => run.Way == TableCatalog.Own), figure);
}
