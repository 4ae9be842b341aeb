using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Paging;
using Voron.Testing;

namespace Voron.Recovery;

/// <summary>Brings the version table to the newest state that the files prove, despite any damage.</summary>
/// <remarks>
/// The same steps as <see cref="CrashRecovery"/>, but inconsistencies are reported, not refused. The journal counts up to its first hole. A page
/// that cannot be rebuilt is lost, and the others are as of one state, if the data file is the one that the header describes.
/// </remarks>
internal static class TolerantRecovery
{
    /// <param name="disk">The directory of the environment; its files can be read everywhere, perhaps as zeros.</param>
    /// <param name="checkpoint">The checkpoint to start from.</param>
    /// <param name="files">The journal files.</param>
    /// <param name="target">The parts that recovery reads from and fills.</param>
    /// <param name="takesNewest">True to continue after a hole in the journal.</param>
    public static TolerantResult Run(
        IDisk disk, in CheckpointHeader checkpoint, IReadOnlyList<JournalFileInfo> files, in RecoveryTarget target, bool takesNewest)
    {
        var problems = new SortedSet<string>(StringComparer.Ordinal);
        var lost = new Dictionary<long, string>();
        var isClosed = (checkpoint.Flags & CheckpointFlags.ClosedCleanly) != 0;
        var header = checkpoint;
        if (checkpoint.JournalSnapshotNumber != 0 && FindFault(disk, checkpoint, target) is { } fault)
        {
            // The records after the snapshot build on its pages.
            problems.Add(fault);
            files = [];
            (header.JournalSnapshotNumber, header.ReplayStart) = (0, default);
        }

        using var chain = new JournalChain(disk, header.EnvironmentId, files, header.ReplayStart, target.Records, isClosed) { Problems = problems };
        var finished = Math.Max(header.State.TransactionId, header.JournalSnapshotNumber == 0 ? 0 : header.JournalSnapshotTransactionId);
        var lists = new FlushListCollector(header.State.TransactionId, finished, target.Frames, target.DataFile.PageSize, target.Records);
        var checker = new RecordChecker(lists, target.Records);
        chain.Follow(checker);
        if (IsCut(chain, target, problems))
        {
            lists.Discard();
            chain.Follow(checker);
        }

        lists.Finish();
        var misfit = FindMisfit(checkpoint, lists, target.DataFile);
        target.Versions.EnsureCapacity(target.DataFile.CapacityPages);
        var replay = new PageReplay(target, lists, header) { Lost = lost, KeepsNewerPages = misfit != null && !PlantedFault.MixNewerPages };
        if (header.JournalSnapshotNumber != 0)
            JournalSnapshotReader.Read(disk, header.EnvironmentId, header, replay, target.Records);
        var end = chain.Follow(replay);
        var rest = new CheckedReplay(new RecordChecker(null, target.Records), replay);
        if (takesNewest && problems.Count > 0)
        {
            replay.WholeSinceHole = new HashSet<long>();
            chain.FollowRest(end.End, rest, () => replay.WholeSinceHole.Clear());
        }

        replay.Finish();
        return new TolerantResult
        {
            State = replay.State,
            IsNewest = rest.Records > 0,
            Misfit = misfit,
            Problems = [.. problems],
            Lost = lost,
        };
    }

    // Reads the snapshot only to find its faults, before any of its pages is used.
    private static string? FindFault(IDisk disk, in CheckpointHeader checkpoint, in RecoveryTarget target)
    {
        try
        {
            JournalSnapshotReader.Read(disk, checkpoint.EnvironmentId, checkpoint, new RecordChecker(null, target.Records), target.Records);
            return null;
        }
        catch (VoronException e)
        {
            return e.Message;
        }
    }

    // The last records may have been written before the values that they name were durable. Without these, the transactions do not count.
    private static bool IsCut(JournalChain chain, in RecoveryTarget target, ICollection<string> problems)
    {
        try
        {
            if (!chain.TryCut(new UnsyncedExtents(target.DataFile, target.Records)))
                return false;
            problems.Add("The last transactions of the journal are ignored, because a value that they wrote is not intact in the data file.");
            return true;
        }
        catch (VoronException e)
        {
            problems.Add(e.Message);
            return false;
        }
    }

    private static string? FindMisfit(in CheckpointHeader checkpoint, FlushListCollector lists, DataFile dataFile)
    {
        try
        {
            DataFileFit.Check(dataFile.ReadStamp(), checkpoint, lists, dataFile);

            // No checksum covers the stamp. If the rest of its page is damaged, so may be the stamp.
            return lists.MayBeDamaged(0) || dataFile.TryVerify(0, out _) is not { } fault ? null : $"{fault} Its stamp does not count.";
        }
        catch (VoronException e)
        {
            return e.Message;
        }
    }

    /// <summary>Replays a record if all of it can be read.</summary>
    private sealed unsafe class CheckedReplay(RecordChecker checker, PageReplay replay) : IRecordVisitor
    {
        public long Records { get; private set; }

        public void Visit(RecordHeader* record, string path)
        {
            checker.Visit(record, path);
            Records++;
            replay.Visit(record, path);
        }
    }

    /// <summary>Finds malformed records before their pages are applied.</summary>
    private sealed unsafe class RecordChecker(FlushListCollector? lists, BlockMemory memory) : IRecordVisitor
    {
        public void Visit(RecordHeader* record, string path)
        {
            if (record->Kind is RecordKind.Transaction or RecordKind.JournalSnapshot)
            {
                using var payload = new RecordPayload(record, path, memory);
                for (var entries = new PageEntries(payload, record->EntryCount); entries.MoveNext();)
                {
                }
            }

            lists?.Visit(record, path);
        }
    }
}

/// <summary>The result of a tolerant recovery.</summary>
internal sealed record TolerantResult
{
    /// <summary>The state; that of the header if no record follows.</summary>
    public required EnvironmentState State { get; init; }

    /// <summary>The state is from records after a hole in the journal, so the pages are of several states.</summary>
    public required bool IsNewest { get; init; }

    /// <summary>Null if the data file is the one that header and journal describe; otherwise a sentence that says why it is not.</summary>
    public required string? Misfit { get; init; }

    /// <summary>A sentence for each fault of the journal: commits after it may be missing.</summary>
    public required IReadOnlyList<string> Problems { get; init; }

    /// <summary>The pages that could not be rebuilt, each with the reason.</summary>
    public required IReadOnlyDictionary<long, string> Lost { get; init; }
}
