namespace Voron.Benchmarks.Engines;

/// <summary>
/// How commits and flushes went along a run. Commits are averaged over stretches that double whenever there are too many
/// points, so that a run of any length keeps a few hundred.
/// </summary>
internal sealed class RunSeries
{
    private const int MaxPoints = 512;

    private long _stretch = 8;
    private long _count;
    private double _pages;
    private double _bytes;

    /// <summary>Pages changed by a transaction.</summary>
    public List<SeriesPoint> Pages { get; init; } = [];

    /// <summary>Journal bytes of a transaction.</summary>
    public List<SeriesPoint> JournalBytes { get; init; } = [];

    public List<SeriesPoint> FlushPages { get; init; } = [];

    public List<SeriesPoint> FlushSeeks { get; init; } = [];

    public List<SeriesPoint> FlushBytes { get; init; } = [];

    public void AddCommit(in CommitFigures figures)
    {
        _count++;
        _pages += figures.PagesChanged;
        _bytes += figures.JournalBytes;
        if (_count % _stretch != 0)
            return;
        Pages.Add(new SeriesPoint(_count, _pages / _stretch));
        JournalBytes.Add(new SeriesPoint(_count, _bytes / _stretch));
        _pages = 0;
        _bytes = 0;
        if (Pages.Count < MaxPoints)
            return;
        Halve(Pages);
        Halve(JournalBytes);
        _stretch *= 2;
    }

    /// <summary>Against the transactions that had been committed by then.</summary>
    public void AddFlush(in FlushFigures figures)
    {
        if (FlushPages.Count >= MaxPoints)
            return;
        long now = Volatile.Read(ref _count);
        FlushPages.Add(new SeriesPoint(now, figures.Pages));
        FlushSeeks.Add(new SeriesPoint(now, figures.Seeks));
        FlushBytes.Add(new SeriesPoint(now, figures.Bytes));
    }

    private static void Halve(List<SeriesPoint> points)
    {
        for (int i = 0; i < points.Count / 2; i++)
            points[i] = new SeriesPoint(points[(2 * i) + 1].At, (points[2 * i].Value + points[(2 * i) + 1].Value) / 2);
        points.RemoveRange(points.Count / 2, points.Count - (points.Count / 2));
    }
}

/// <param name="At">Transactions since the start.</param>
/// <param name="Value">What was seen there.</param>
internal readonly record struct SeriesPoint(long At, double Value);
