using System.Diagnostics;
using Voron.Format;
using Voron.Paging;
using Voron.Transactions;

namespace Voron.Diagnostics;

/// <summary>Collects the figures of the status file from the counters that the engine keeps. Takes no lock.</summary>
internal sealed class StatusSource
{
    private readonly Engine _engine;
    private readonly HeaderFile _checkpoints;
    private readonly Func<int> _queuedOperations;
    private readonly Func<long> _unflushedBytes;
    private readonly TimeProvider _clock;
    private readonly long _began;
    private long? _processStartTicks;

    /// <param name="engine">The engine.</param>
    /// <param name="checkpoints">Its header.</param>
    /// <param name="queuedOperations">Returns the number of operations that wait for a group commit.</param>
    /// <param name="unflushedBytes">Returns the bytes of journal since the last flush.</param>
    public StatusSource(Engine engine, HeaderFile checkpoints, Func<int> queuedOperations, Func<long> unflushedBytes)
    {
        _engine = engine;
        _checkpoints = checkpoints;
        _queuedOperations = queuedOperations;
        _unflushedBytes = unflushedBytes;
        _clock = engine.Options.StatusClock;
        _began = _clock.GetTimestamp();
    }

    /// <summary>Identifies this opening of the environment.</summary>
    public RandomId Session { get; } = RandomId.New();

    /// <summary>A number that grows with each commit and each flush.</summary>
    public long Work => Volatile.Read(ref _engine.Counters.CommittedTransactions) + Volatile.Read(ref _engine.Counters.FlushCount);

    /// <summary>Returns the current figures, without a sequence.</summary>
    public StatusBlock Collect()
    {
        var statistics = StatisticsCollector.Collect(_engine, _checkpoints, _queuedOperations());
        var counters = _engine.Counters;
        var now = _clock.GetUtcNow();
        return new StatusBlock
        {
            Flags = (statistics.IsPoisoned ? StatusFlags.IsPoisoned : 0) | (statistics.IsBackPressureActive ? StatusFlags.IsBackPressureActive : 0),
            EnvironmentId = _engine.EnvironmentId,
            Session = Session,
            FormatVersion = _engine.Format.Version,
            PageSize = (uint)_engine.PageSize,
            ProcessId = Environment.ProcessId,
            ProcessStartTicks = _processStartTicks ??= ReadProcessStart(),
            OpenedTicks = statistics.OpenedAt.UtcTicks,
            UpdatedTicks = now.UtcTicks,
            UptimeMilliseconds = (long)_clock.GetElapsedTime(_began).TotalMilliseconds,
            IntervalMilliseconds = (long)_engine.Options.StatusInterval.TotalMilliseconds,
            TransactionId = statistics.PublishedTransactionId,
            CheckpointTransactionId = statistics.CheckpointTransactionId,
            CommittedTransactions = statistics.CommittedTransactions,
            RolledBackTransactions = statistics.RolledBackTransactions,
            PagesChanged = statistics.PagesChanged,
            DirectBytes = Volatile.Read(ref counters.DirectBytes),
            JournalBytes = statistics.JournalBytes,
            JournalWrites = statistics.JournalWrites,
            JournalWriteTicks = statistics.JournalWriteTime.Ticks,
            LiveJournalFiles = _engine.JournalFiles?.LiveCount ?? 0,
            LiveJournalBytes = statistics.LiveJournalBytes,
            TotalJournalBytes = statistics.TotalJournalBytes,
            JournalLimitBytes = statistics.JournalLimitBytes,
            UnflushedJournalBytes = _unflushedBytes(),
            DataFileBytes = statistics.DataFileBytes,
            PageCount = statistics.PageCount,
            FreeDataFileBytes = statistics.FreeDataFileBytes ?? StatusBlock.None,
            VolumeFreeBytes = statistics.VolumeFreeBytes ?? StatusBlock.None,
            VersionBytes = statistics.VersionBytes,
            ScratchBytes = statistics.ScratchBytes,
            ScratchLimitBytes = statistics.ScratchLimitBytes,
            SpilledBytes = statistics.SpilledBytes,
            NativeMemoryBytes = statistics.NativeMemoryBytes,
            KeyHeadCacheBytes = statistics.KeyHeadCacheBytes,
            StagedBytes = statistics.StagedBytes,
            OpenReaders = statistics.OpenReaders,
            OldestReaderTransactionId = statistics.OldestReaderTransactionId ?? StatusBlock.None,
            OldestReaderTicks = statistics.OldestReaderAge is { } age ? (now - age).UtcTicks : 0,
            Flushes = statistics.Flushes,
            FlushedBytes = statistics.FlushedBytes,
            LastFlushTicks = Volatile.Read(ref counters.LastFlushUtcTicks),
            LastFlushDuration = counters.LastFlushDuration,
            BackupsUnderWay = Volatile.Read(ref counters.BackupsUnderWay),
            CompactionsUnderWay = Volatile.Read(ref counters.CompactionsUnderWay),
            GroupCommittedOperations = statistics.GroupCommittedOperations,
            QueuedOperations = statistics.QueuedOperations,
            BackPressureWaits = statistics.BackPressureWaits,
            BackPressureTicks = statistics.BackPressureTime.Ticks,
            ScrubRuns = statistics.ScrubRuns,
            LastScrubProblems = statistics.LastScrubProblems,
        };
    }

    /// <summary>The cause of a poisoned environment; null for any other.</summary>
    public string? Cause => _engine.Poison.Cause?.Message;

    // Takes milliseconds, so no opening waits for it. Returns 0 if the system does not report it.
    private static long ReadProcessStart()
    {
        try
        {
            using var process = Process.GetCurrentProcess();
            return process.StartTime.ToUniversalTime().Ticks;
        }
        catch (Exception e) when (e is InvalidOperationException or System.ComponentModel.Win32Exception or NotSupportedException)
        {
            return 0;
        }
    }
}
