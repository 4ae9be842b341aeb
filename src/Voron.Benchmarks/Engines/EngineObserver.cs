using System.Diagnostics;
using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Engines;

/// <summary>The pages that one commit changed and the journal bytes that it wrote.</summary>
internal readonly record struct CommitFigures(long PagesChanged, long JournalBytes);

/// <summary>The work of one flush to the data file. A seek is a write that does not start where the previous one ended.</summary>
internal readonly record struct FlushFigures(
    long Pages, long Leaves, long Branches, long Overflows, long Seeks, long Bytes, TimeSpan Duration);

/// <summary>The time during which a flush ran.</summary>
internal readonly record struct FlushInterval(long StartTimestamp, long EndTimestamp);

/// <summary>
/// Collects an engine's own figures. Commits and flushes can report from different threads, even while a summary is taken, so each
/// kind has its lock, which is uncontended in practice.
/// </summary>
internal sealed class EngineObserver
{
    /// <summary>The number of transactions, from an empty store, that the published page counts cover.</summary>
    public const int PublishedTransactions = 5_000;

    private readonly Lock _commitLock = new();
    private readonly Lock _flushLock = new();
    private readonly List<FlushInterval> _flushes = new(capacity: 1024);
    private readonly RunningStatistics _pages = new();
    private readonly RunningStatistics _journalBytes = new();
    private readonly RunningStatistics _firstPages = new();
    private readonly RunningStatistics _firstJournalBytes = new();
    private readonly RunningStatistics _flushPages = new();
    private readonly RunningStatistics _flushSeeks = new();
    private readonly RunningStatistics _flushLeaves = new();
    private readonly RunningStatistics _flushBranches = new();
    private readonly RunningStatistics _flushOverflows = new();
    private readonly RunningStatistics _flushBytes = new();
    private readonly RunningStatistics _flushMilliseconds = new();

    /// <summary>Set before the first measured transaction, so that opening the store does not count.</summary>
    public bool IsActive { get; set; }

    public void OnCommit(in CommitFigures figures)
    {
        if (!IsActive)
            return;
        lock (_commitLock)
        {
            _pages.Add(figures.PagesChanged);
            _journalBytes.Add(figures.JournalBytes);
            if (_pages.Count > PublishedTransactions)
                return;
            _firstPages.Add(figures.PagesChanged);
            _firstJournalBytes.Add(figures.JournalBytes);
        }
    }

    public void OnFlush(in FlushFigures figures)
    {
        if (!IsActive)
            return;
        var ended = Stopwatch.GetTimestamp();
        lock (_flushLock)
        {
            _flushes.Add(new FlushInterval(ended - (long)(figures.Duration.TotalSeconds * Stopwatch.Frequency), ended));
            _flushPages.Add(figures.Pages);
            _flushSeeks.Add(figures.Seeks);
            _flushLeaves.Add(figures.Leaves);
            _flushBranches.Add(figures.Branches);
            _flushOverflows.Add(figures.Overflows);
            _flushBytes.Add(figures.Bytes);
            _flushMilliseconds.Add(figures.Duration.TotalMilliseconds);
        }
    }

    /// <summary>The intervals of completed flushes, in order.</summary>
    public FlushInterval[] FlushIntervals()
    {
        lock (_flushLock)
            return [.. _flushes];
    }

    /// <summary>Null if the engine reported no commit, as is the case for peers.</summary>
    public CommitSummary? SummariseCommits()
    {
        lock (_commitLock)
        {
            return _pages.Count == 0
                ? null
                : new CommitSummary(
                    _pages.Summarise()!, _journalBytes.Summarise()!, _firstPages.Summarise()!, _firstJournalBytes.Summarise()!);
        }
    }

    public FlushSummary? SummariseFlushes()
    {
        lock (_flushLock)
        {
            return _flushPages.Count == 0
                ? null
                : new FlushSummary(
                    _flushPages.Summarise()!, _flushSeeks.Summarise()!, _flushLeaves.Summarise()!, _flushBranches.Summarise()!,
                    _flushOverflows.Summarise()!, _flushBytes.Summarise()!, _flushMilliseconds.Summarise()!);
        }
    }
}

/// <summary>Figures per transaction, over the whole run and over its first <see cref="EngineObserver.PublishedTransactions"/>.</summary>
internal sealed record CommitSummary(
    NumberSummary PagesChanged, NumberSummary JournalBytes, NumberSummary FirstPagesChanged, NumberSummary FirstJournalBytes);

/// <summary>Figures per flush.</summary>
internal sealed record FlushSummary(
    NumberSummary Pages, NumberSummary Seeks, NumberSummary Leaves, NumberSummary Branches, NumberSummary Overflows,
    NumberSummary Bytes, NumberSummary Milliseconds);
