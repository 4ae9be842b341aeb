using System.Diagnostics;
using Voron.Paging;
using Voron.Transactions;

namespace Voron.Diagnostics;

/// <summary>Collects what an environment has done and what it holds.</summary>
internal static class StatisticsCollector
{
    /// <summary>Collects the statistics. Takes no snapshot, so that they are available even when there can be no more readers.</summary>
    /// <param name="engine">The engine of an open environment.</param>
    /// <param name="checkpoints">Its header.</param>
    /// <param name="queuedOperations">The number of operations that wait for a group commit.</param>
    public static EnvironmentStatistics Collect(Engine engine, CheckpointFile checkpoints, int queuedOperations)
    {
        engine.Ring.Read(out var published);
        var counters = engine.Counters;
        var journal = engine.Journal;
        return new EnvironmentStatistics
        {
            PageSize = engine.PageSize,
            PublishedTransactionId = published.State.TransactionId,
            CheckpointTransactionId = checkpoints.Current.State.TransactionId,
            PageCount = published.State.PageCount,
            DataFileBytes = engine.DataFile.CapacityPages * engine.PageSize,
            LiveJournalBytes = engine.JournalFiles?.LiveRecordBytes ?? 0,
            TotalJournalBytes = engine.JournalFiles?.TotalBytes ?? 0,
            ScratchBytes = engine.Frames.UsedBytes,
            ScratchReservedBytes = engine.Frames.ReservedBytes,
            SpilledBytes = engine.Frames.SpilledBytes,
            JournalBufferBytes = journal?.BufferBytes ?? 0,
            KeyHeadCacheBytes = engine.DataFileKeyHeads?.UsedBytes ?? 0,
            PageVersions = engine.Versions.NodeCount,
            OpenReaders = engine.Users.OpenReaders,
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
            BackPressureWaits = counters.BackPressureWaits,
            FreedPages = counters.FreedPages,
            ReclaimedBytes = counters.PunchedBytes + counters.TruncatedBytes,
            IsPoisoned = engine.Poison.IsPoisoned,
            IsUnbuffered = engine.Disk.IsUnbuffered,
        };
    }
}
