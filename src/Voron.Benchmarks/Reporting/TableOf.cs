namespace Voron.Benchmarks.Reporting;

/// <summary>
/// The columns of a table each of whose rows shows some runs, such as those of one engine. A figure is the median of the runs that have it.
/// </summary>
/// <param name="textColumns">The number of columns, from the left, that are text.</param>
internal sealed class TableOf<T>(string title, int textColumns = 1)
{
    private readonly List<string> _headers = [];
    private readonly List<Func<IReadOnlyList<T>, string>> _cells = [];

    public IReadOnlyList<string> Headers => _headers;

    public TableOf<T> Text(string header, Func<T, string> cell) => Cell(header, runs => cell(runs[0]));

    /// <summary>Adds a column of numbers without decimals.</summary>
    public TableOf<T> Count(string header, Func<T, double?> figure) => Figure(header, figure, Figures.Count);

    /// <summary>Adds a column of numbers with two decimals.</summary>
    public TableOf<T> Decimal(string header, Func<T, double?> figure) => Figure(header, figure, Figures.Decimal);

    public TableOf<T> Microseconds(string header, Func<T, double?> figure) => Figure(header, figure, Figures.Microseconds);

    public TableOf<T> Percent(string header, Func<T, double?> figure) => Figure(header, figure, Figures.Percent);

    public TableOf<T> Ratio(string header, Func<T, double?> figure) => Figure(header, figure, Figures.Ratio);

    public TableOf<T> Bytes(string header, Func<T, double?> figure) => Figure(header, figure, Figures.Bytes);

    /// <summary>Adds the median, the mean and the 99th percentile of calls, and their tail: the 99.9th percentile and the longest.</summary>
    public TableOf<T> Latency(string median, Func<T, LatencySummary?> calls, bool hasTail = true)
    {
        Microseconds(median, run => calls(run)?.P50Microseconds).Microseconds("mean", run => calls(run)?.MeanMicroseconds)
            .Microseconds("p99", run => calls(run)?.P99Microseconds);
        return hasTail
            ? Microseconds("p99.9", run => calls(run)?.P999Microseconds).Microseconds("max", run => calls(run)?.MaxMicroseconds)
            : this;
    }

    /// <summary>Adds a column whose text depends on all runs of a row.</summary>
    public TableOf<T> Cell(string header, Func<IReadOnlyList<T>, string> cell)
    {
        _headers.Add(header);
        _cells.Add(cell);
        return this;
    }

    /// <summary>The cells of some runs.</summary>
    public string[] Row(IReadOnlyList<T> runs) => [.. _cells.Select(cell => cell(runs))];

    /// <summary>The table with a row for each list of runs.</summary>
    public ReportTable Of(IEnumerable<IReadOnlyList<T>> rows) => With(rows.Select(Row));

    /// <summary>The table with a row for each run.</summary>
    public ReportTable OfEach(IEnumerable<T> runs) => Of(runs.Select(run => (T[])[run]));

    /// <summary>The table with a row for all runs of the same way, in the order in which the first of each was measured.</summary>
    public ReportTable By<TWay>(IEnumerable<T> runs, Func<T, TWay> way) => Of(runs.GroupBy(way).Select(group => group.ToList()));

    /// <summary>The table with rows that have been made already.</summary>
    public ReportTable With(IEnumerable<string[]> rows) => new(title, textColumns, [.. _headers], [.. rows]);

    private TableOf<T> Figure(string header, Func<T, double?> figure, Func<double?, string> format) =>
        Cell(header, runs => format(Figures.Median(runs, figure)));
}
