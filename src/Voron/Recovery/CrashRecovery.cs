using System.Diagnostics;
using Microsoft.Extensions.Logging;
using Voron.Format;
using Voron.IO;
using Voron.Paging;

namespace Voron.Recovery;

/// <summary>Brings the version table to the newest durable state: checkpoint, journal snapshot, journal.</summary>
/// <remarks>
/// Recovery writes nothing. An open for writing has already synced all data that is not certain to be durable, since a killed process
/// leaves such data visible.
/// </remarks>
internal static class CrashRecovery
{
    /// <param name="disk">The directory of the environment.</param>
    /// <param name="checkpoint">The environment's header.</param>
    /// <param name="journals">The journal files of the directory.</param>
    /// <param name="target">The parts that recovery reads from and fills.</param>
    /// <param name="logger">Receives the result.</param>
    /// <exception cref="CorruptionException">The files are damaged, or not of one moment.</exception>
    public static RecoveryResult Run(
        IDisk disk, in CheckpointHeader checkpoint, JournalInventory journals, in RecoveryTarget target, ILogger logger)
    {
        var start = Stopwatch.GetTimestamp();
        var (dataFile, frames) = (target.DataFile, target.Frames);
        var files = journals.Files;
        using var chain = new JournalChain(
            disk, checkpoint.EnvironmentId, files, checkpoint.ReplayStart, target.Records, (checkpoint.Flags & CheckpointFlags.ClosedCleanly) != 0);

        var finished = Math.Max(checkpoint.State.TransactionId, checkpoint.JournalSnapshotTransactionId);
        var lists = new FlushListCollector(checkpoint.State.TransactionId, finished, frames, dataFile.PageSize, target.Records);
        chain.Follow(lists);
        var isCutShort = chain.TryCut(new UnsyncedExtents(dataFile, target.Records));
        if (isCutShort)
        {
            lists.Discard();
            chain.Follow(lists);
        }

        lists.Finish();
        var stamp = dataFile.ReadStamp();
        var highest = DataFileFit.Check(stamp, checkpoint, lists, dataFile);

        target.Versions.EnsureCapacity(dataFile.CapacityPages);
        var replay = new PageReplay(target, lists, checkpoint);
        if (checkpoint.JournalSnapshotNumber != 0)
            JournalSnapshotReader.Read(disk, checkpoint.EnvironmentId, checkpoint, replay, target.Records);
        var end = chain.Follow(replay);

        var state = replay.State;
        ThrowIfCut(dataFile, state);
        var pages = replay.PageCount;
        replay.Finish();
        Log(logger, dataFile.File.Path, end, state, pages, start);
        return new RecoveryResult
        {
            State = state,
            End = end.End,
            IsDurabilityConfirmed = end.IsDurabilityConfirmed,
            IsCutShort = isCutShort,
            Seals = end.Seals,
            Ends = end.Ends,
            Files = files,
            Openings = chain.Openings,
            Unused = end.Unused,
            WithoutEpoch = journals.WithoutEpoch,
            DirectExtents = replay.DirectExtents,
            DirectWrites = replay.DirectWrites,
            ReplayedRecords = end.Records,
            ReplayedBytes = end.Bytes,
            Dropped = end.Dropped,
            Stamp = stamp,
            HighestNumber = highest,
            Duration = Stopwatch.GetElapsedTime(start),
        };
    }

    private static void ThrowIfCut(DataFile dataFile, in EnvironmentState state)
    {
        if (state.PageCount > dataFile.CapacityPages)
        {
            throw new CorruptionException(
                $"'{dataFile.File.Path}' has been cut short: it has {dataFile.CapacityPages} pages, " +
                $"but transaction {state.TransactionId} needs {state.PageCount}.");
        }
    }

    private static void Log(ILogger logger, string path, JournalChainEnd end, in EnvironmentState state, long pages, long start)
    {
        if (end.Dropped is { } tail)
        {
            RecoveryLog.TailDropped(
                logger, state.TransactionId, tail.Offset, tail.Path, tail.BrokenRecords, tail.WholeRecords, tail.FirstSequence,
                tail.FirstTransactionId, tail.LastTransactionId);
        }

        if (end.Records > 0)
        {
            var milliseconds = (long)Stopwatch.GetElapsedTime(start).TotalMilliseconds;
            RecoveryLog.Replayed(logger, path, end.Records, state.TransactionId, pages, milliseconds);
        }
    }
}
