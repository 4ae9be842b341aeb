using System.Diagnostics;
using Microsoft.Extensions.Logging;
using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Paging;
using Voron.Scratch;
using Voron.Trees;

namespace Voron.Flushing;

/// <summary>The result of recovery.</summary>
/// <param name="State">The newest durable state.</param>
/// <param name="End">The end of the journal.</param>
/// <param name="IsDurabilityConfirmed">The journal's last record needs no other record to confirm its durability.</param>
/// <param name="Seals">The ends of journal files that the next journal file has to seal.</param>
/// <param name="Ends">For each live journal file, the end of the last record that was read in it.</param>
/// <param name="Files">The journal files that have an epoch.</param>
/// <param name="Openings">The number of times that the environment was opened and written since the checkpoint.</param>
/// <param name="Unused">The names of journal files of which no record counts, though they are behind the start.</param>
/// <param name="WithoutEpoch">The names of journal files that have no epoch: unfinished, to be deleted.</param>
/// <param name="DirectExtents">Large values of replayed records that still exist, to be verified.</param>
/// <param name="ReplayedRecords">The number of records that were applied.</param>
/// <param name="ReplayedBytes">The bytes of these records, padding included.</param>
/// <param name="Dropped">The tail behind the end of the journal; null when there was none.</param>
/// <param name="Stamp">The stamp of the data file.</param>
/// <param name="HighestNumber">The highest number of a checkpoint or a flush, finished or not.</param>
/// <param name="Duration">The duration of recovery.</param>
internal sealed record RecoveryResult(
    EnvironmentState State,
    JournalPosition End,
    bool IsDurabilityConfirmed,
    JournalSeal[] Seals,
    JournalSeal[] Ends,
    IReadOnlyList<JournalFileInfo> Files,
    int Openings,
    IReadOnlyList<string> Unused,
    IReadOnlyList<string> WithoutEpoch,
    IReadOnlyDictionary<long, DirectExtent> DirectExtents,
    long ReplayedRecords,
    long ReplayedBytes,
    DroppedTail? Dropped,
    ulong Stamp,
    long HighestNumber,
    TimeSpan Duration);

/// <summary>Brings the version table to the newest durable state: checkpoint, journal snapshot, journal.</summary>
/// <remarks>
/// Recovery writes nothing. An open for writing has already synced all data that is not certain to be durable, since a killed process
/// leaves such data visible.
/// </remarks>
internal static class Recovery
{
    public static RecoveryResult Run(
        IDisk disk, in CheckpointHeader checkpoint, JournalInventory journals, DataFile dataFile, FrameAllocator frames, VersionTable versions,
        ILogger logger)
    {
        var start = Stopwatch.GetTimestamp();
        var files = journals.Files;
        using var chain = new JournalChain(
            disk, checkpoint.EnvironmentId, files, checkpoint.ReplayStart, (checkpoint.Flags & CheckpointFlags.ClosedCleanly) != 0);

        var finished = Math.Max(checkpoint.State.TransactionId, checkpoint.JournalSnapshotTransactionId);
        var lists = new FlushListCollector(checkpoint.State.TransactionId, finished, frames, dataFile.PageSize);
        chain.Follow(lists);
        lists.Finish();
        var stamp = dataFile.ReadStamp();
        var highest = DataFileFit.Check(stamp, checkpoint, lists, dataFile);

        var replay = new PageReplay(dataFile, frames, lists, checkpoint.State);
        if (checkpoint.JournalSnapshotNumber != 0)
            JournalSnapshotFile.Read(disk, checkpoint.EnvironmentId, checkpoint, replay);
        var end = chain.Follow(replay);

        var state = replay.State;
        if (state.PageCount > dataFile.CapacityPages)
        {
            throw new CorruptionException(
                $"'{dataFile.File.Path}' has been cut: it has {dataFile.CapacityPages} pages, and transaction {state.TransactionId} needs {state.PageCount}.");
        }

        versions.EnsureCapacity(dataFile.CapacityPages);
        var pages = replay.PageCount;
        replay.Publish(versions);
        if (end.Dropped is { } tail)
        {
            JournalLog.TailDropped(
                logger, state.TransactionId, tail.Offset, tail.Path, tail.BrokenRecords, tail.WholeRecords, tail.FirstSequence,
                tail.FirstTransactionId, tail.LastTransactionId);
        }

        if (end.Records > 0)
        {
            var milliseconds = (long)Stopwatch.GetElapsedTime(start).TotalMilliseconds;
            JournalLog.Replayed(logger, end.Records, state.TransactionId, pages, milliseconds);
        }

        var duration = Stopwatch.GetElapsedTime(start);
        return new RecoveryResult(
            state, end.End, end.IsDurabilityConfirmed, end.Seals, end.Ends, files, chain.Openings, end.Unused, journals.WithoutEpoch,
            replay.DirectExtents, end.Records, end.Bytes, end.Dropped, stamp, highest, duration);
    }

    /// <summary>Verifies the large values that the replayed records name.</summary>
    /// <exception cref="CorruptionException">One of them is damaged.</exception>
    public static void VerifyDirectExtents(RecoveryResult result, PageReader pages)
    {
        foreach (var (firstPage, run) in result.DirectExtents)
        {
            var reference = new LargeExtentReference { FirstPage = firstPage, Length = run.Length, Checksums = run.Checksums };
            if (run.Length is < 0 or > int.MaxValue)
                throw new CorruptionException($"The journal has a value of {run.Length} bytes at page {firstPage}.");
            if (run.Length > 0)
                pages.ReadLarge(reference, 0, (int)run.Length);
        }
    }
}
