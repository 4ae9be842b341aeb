namespace Voron.Benchmarks.Engines;

/// <summary>The time during which a flush ran.</summary>
internal readonly record struct FlushInterval(long StartTimestamp, long EndTimestamp);

/// <summary>
/// Collects an engine's own figures. Commits and flushes can report from different threads, even while a summary is taken, so each
/// kind has its lock, which is uncontended in practice. Commits are too many to be kept.
/// </summary>
internal sealed class EngineObserver
{
    /// <summary>The number of transactions, from an empty store, that the published page counts cover.</summary>
    public const int PublishedTransactions = 5_000;

    private readonly Lock _commitLock = new();
    private readonly Lock _flushLock = new();
    private readonly List<(FlushInterval Interval, FlushReport Report)> _flushes = new(capacity: 1024);
    private readonly RunningStatistics _pages = new();
    private readonly RunningStatistics _journalBytes = new();
    private readonly RunningStatistics _firstPages = new();
    private readonly RunningStatistics _firstJournalBytes = new();

    /// <summary>Set before the first measured transaction, so that opening the store does not count.</summary>
    public bool IsActive { get; set; }

    public void OnCommit(CommitReport report)
    {
        if (!IsActive)
            return;
        lock (_commitLock)
        {
            _pages.Add(report.PagesChanged);
            _journalBytes.Add(report.JournalBytes);
            if (_pages.Count > PublishedTransactions)
                return;
            _firstPages.Add(report.PagesChanged);
            _firstJournalBytes.Add(report.JournalBytes);
        }
    }

    public void OnFlush(FlushReport report)
    {
        if (!IsActive)
            return;
        var ended = Stopwatch.GetTimestamp();
        lock (_flushLock)
            _flushes.Add((new FlushInterval(ended - (long)(report.Duration.TotalSeconds * Stopwatch.Frequency), ended), report));
    }

    /// <summary>The intervals of completed flushes, in order.</summary>
    public FlushInterval[] FlushIntervals()
    {
        lock (_flushLock)
            return [.. _flushes.Select(flush => flush.Interval)];
    }

    /// <summary>Null if the engine reported no commit, as is the case for peers.</summary>
    public CommitSummary? SummariseCommits()
    {
        lock (_commitLock)
        {
            return _pages.Count == 0
                ? null
                : new CommitSummary(_pages.Summarise(), _journalBytes.Summarise(), _firstPages.Summarise(), _firstJournalBytes.Summarise());
        }
    }

    public FlushSummary? SummariseFlushes()
    {
        lock (_flushLock)
        {
            return _flushes.Count == 0
                ? null
                : new FlushSummary(
                    Summarise(report => report.Pages), Summarise(report => report.Seeks), Summarise(report => report.Leaves),
                    Summarise(report => report.Branches), Summarise(report => report.Overflows), Summarise(report => report.Bytes),
                    Summarise(report => report.Duration.TotalMilliseconds));
        }
    }

    private NumberSummary Summarise(Func<FlushReport, double> figure)
    {
        var statistics = new RunningStatistics();
        foreach (var (_, report) in _flushes)
            statistics.Add(figure(report));
        return statistics.Summarise();
    }
}

/// <summary>Figures per transaction, over the whole run and over its first <see cref="EngineObserver.PublishedTransactions"/>.</summary>
internal sealed record CommitSummary(
    NumberSummary PagesChanged, NumberSummary JournalBytes, NumberSummary FirstPagesChanged, NumberSummary FirstJournalBytes);

/// <summary>Figures per flush. A seek is a write that does not start where the previous one ended.</summary>
internal sealed record FlushSummary(
    NumberSummary Pages, NumberSummary Seeks, NumberSummary Leaves, NumberSummary Branches, NumberSummary Overflows,
    NumberSummary Bytes, NumberSummary Milliseconds);

internal sealed record NumberSummary(long Count, double Average, double Max, double Total, double StandardDeviation);

/// <summary>Count, total, mean, maximum and standard deviation of a stream of numbers, without storing it.</summary>
internal sealed class RunningStatistics
{
    private double _total;
    private double _mean;
    private double _squaredDistances;
    private double _max = double.MinValue;

    public long Count { get; private set; }

    /// <summary>Uses Welford's update, because a sum of squares of large numbers would lose the digits of a small deviation.</summary>
    public void Add(double value)
    {
        Count++;
        _total += value;
        var distance = value - _mean;
        _mean += distance / Count;
        _squaredDistances += distance * (value - _mean);
        _max = Math.Max(_max, value);
    }

    public NumberSummary Summarise() => new(Count, _mean, _max, _total, Math.Sqrt(_squaredDistances / Count));
}
