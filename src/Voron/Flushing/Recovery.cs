using System.Diagnostics;
using Microsoft.Extensions.Logging;
using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Paging;
using Voron.Scratch;
using Voron.Trees;

namespace Voron.Flushing;

/// <summary>What recovery found.</summary>
/// <param name="State">The newest durable state.</param>
/// <param name="End">Where the journal ends.</param>
/// <param name="IsDurabilityConfirmed">The journal's last record needs no other to vouch for it.</param>
/// <param name="Seals">What the next journal file has to seal.</param>
/// <param name="Ends">Of each journal file that is live, where the last record ends that was read in it.</param>
/// <param name="Files">The journal files that have a life.</param>
/// <param name="Openings">How often the environment was opened and written since the checkpoint.</param>
/// <param name="Unused">Names of those of which no record counts, though they are behind the start.</param>
/// <param name="WithoutEpoch">Those that have none: unfinished, to be deleted.</param>
/// <param name="DirectExtents">Large values of replayed records that are still there, to be verified.</param>
/// <param name="ReplayedRecords">Records that were applied.</param>
/// <param name="ReplayedBytes">Bytes of these, padding included.</param>
/// <param name="Dropped">What stood behind the end of the journal; null when nothing did.</param>
/// <param name="Stamp">What the data file is stamped with.</param>
/// <param name="HighestNumber">Of a checkpoint or a flush, finished or not.</param>
/// <param name="Duration">How long it took.</param>
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

/// <summary>Brings the version table to the newest durable state: checkpoint, rewrite file, journal.</summary>
/// <remarks>
/// Nothing is written. Whoever opens for writing has synced first what is not certain to be durable, since a killed process leaves it visible.
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
