using System.Diagnostics;
using Voron.Paging;
using Voron.Snapshots;
using Voron.Transactions;

namespace Voron.Diagnostics;

/// <summary>Collects the statistics of an environment.</summary>
internal static class StatisticsCollector
{
    /// <summary>
    /// Collects the statistics. Takes no snapshot, so that they are available even if no more readers can begin, and no lock, so that no other
    /// thread delays them.
    /// </summary>
    /// <param name="engine">The engine of an open environment.</param>
    /// <param name="checkpoints">Its header.</param>
    /// <param name="queuedOperations">The number of operations that wait for a group commit.</param>
    public static EnvironmentStatistics Collect(Engine engine, HeaderFile checkpoints, int queuedOperations)
    {
        engine.Ring.Read(out var published);
        var (counters, options) = (engine.Counters, engine.Options);
        var journal = engine.Journal;
        var hasReader = engine.Readers.TryFindOldest(engine.FlusherSlot, out var oldest, out var age);
        return new EnvironmentStatistics
        {
            OpenedAt = engine.OpenedAt,
            PageSize = engine.PageSize,
            PublishedTransactionId = published.State.TransactionId,
            DurableTransactionId = Math.Min(Volatile.Read(ref counters.DurableTransactionId), published.State.TransactionId),
            PublishedAt = published.State.CommitTime == 0 ? null : new DateTimeOffset(published.State.CommitTime, TimeSpan.Zero),
            CheckpointTransactionId = checkpoints.Current.State.TransactionId,
            PageCount = published.State.PageCount,
            DataFileBytes = engine.DataFile.CapacityPages * engine.PageSize,
            FreeDataFileBytes = EnvironmentFigures.FreeBytes(engine),
            VolumeFreeBytes = EnvironmentFigures.VolumeFreeBytes(engine),
            LiveJournalBytes = engine.JournalFiles?.LiveRecordBytes ?? 0,
            JournalLimitBytes = options.JournalLimitBytes,
            TotalJournalBytes = engine.JournalFiles?.TotalBytes ?? 0,
            ScratchBytes = engine.Frames.UsedBytes,
            ScratchReservedBytes = engine.Frames.ReservedBytes,
            SpilledBytes = engine.Frames.SpilledBytes,
            ScratchMemoryLimitBytes = options.ScratchMemoryBytes,
            VersionBytes = engine.VersionBytes,
            ScratchLimitBytes = options.ScratchLimitBytes,
            JournalBufferBytes = journal?.BufferBytes ?? 0,
            NativeMemoryBytes = engine.Memory.Account.Bytes,
            KeyHeadCacheBytes = engine.DataFileKeyHeads?.UsedBytes ?? 0,
            KeyHeadCacheLimitBytes = options.KeyHeadCacheBytes,
            PageVersions = engine.Versions.NodeCount,
            OpenReaders = engine.Users.OpenReaders,
            OpenReadersLimit = ReaderTable.MaxReaders,
            OldestReaderTransactionId = hasReader ? oldest : null,
            OldestReaderAge = hasReader ? age : null,
            LongWriterWaits = Volatile.Read(ref counters.LongWriterWaits),
            LeakedReaders = counters.LeakedReaders,
            LeakedWriters = counters.LeakedWriters,
            CommittedTransactions = counters.CommittedTransactions,
            RolledBackTransactions = counters.RolledBackTransactions,
            PagesChanged = counters.PagesChanged,
            JournalTransactionBytes = counters.JournalTransactionBytes,
            JournalBytes = journal?.BytesWritten ?? 0,
            JournalWrites = journal?.Writes ?? 0,
            JournalWriteTime = Stopwatch.GetElapsedTime(0, journal?.WriteTicks ?? 0),
            Flushes = counters.FlushCount,
            FlushedPages = counters.FlushedPages,
            FlushedBytes = counters.FlushedBytes,
            FlushSeeks = counters.FlushSeeks,
            JournalSnapshots = counters.JournalSnapshotCount,
            GroupCommittedOperations = counters.GroupCommittedOperations,
            QueuedOperations = queuedOperations,
            QueuedOperationsLimit = options.MaxQueuedOperations,
            BackPressureWaits = counters.BackPressureWaits,
            BackPressureTime = Stopwatch.GetElapsedTime(0, counters.BackPressureTicks),
            IsBackPressureActive = engine.FlushServices?.IsDelaying ?? false,
            FreedPages = counters.FreedPages,
            ReclaimedBytes = counters.PunchedBytes + counters.TruncatedBytes,
            ScrubRuns = Volatile.Read(ref counters.ScrubRuns),
            ScrubbedBytes = counters.ScrubbedBytes,
            ScrubProblems = counters.ScrubProblems,
            LastScrubAt = counters.LastScrubUtcTicks is > 0 and var ticks ? new DateTimeOffset(ticks, TimeSpan.Zero) : null,
            LastScrubProblems = counters.LastScrubProblems,
            IsPoisoned = engine.Poison.IsPoisoned,
            IsUnbuffered = engine.Disk.IsUnbuffered,
            StagedBytes = engine.StagedBytes,
        };
    }
}
