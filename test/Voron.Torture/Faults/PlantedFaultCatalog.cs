using System.Reflection;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Testing;
using Voron.Torture.Suites;

namespace Voron.Torture.Faults;

/// <summary>A fault of the engine, and the suite that has to find it.</summary>
/// <param name="Name">The name of the switch in the engine.</param>
/// <param name="Suite">The suite that has to find it.</param>
/// <param name="Count">The number of cases within which it has to be found.</param>
internal sealed record FaultCase(string Name, string Suite, long Count)
{
    /// <summary>
    /// Text that the message must contain, where other failures of the suite would not show this fault; null for any message.
    /// </summary>
    public string? Shows { get; init; }

    /// <summary>The seed with which the tests hunt it, where those of other faults take minutes; null for that of the others.</summary>
    public long? Seed { get; init; }

    /// <summary>
    /// The number of the run with which the tests begin, where those before it take long and do not show the fault. If the runs of the suite
    /// change, the hunt continues behind it as from any other.
    /// </summary>
    public long First { get; init; }

    /// <summary>True to hunt it with freed memory inaccessible.</summary>
    public bool Guard { get; init; }

    /// <summary>True if the effect of the fault is a run that does not end.</summary>
    public bool Hangs { get; init; }

    /// <summary>True if the effect of the fault is the end of the process.</summary>
    public bool EndsProcess { get; init; }

    /// <summary>True if the changed line, or the check that shows it, exists only on Linux and macOS.</summary>
    public bool NeedsPosix { get; init; }

    /// <summary>The reason why the fault cannot be hunted on this system; null if it can.</summary>
    public string? UnfitHere => (NeedsPosix || Guard) && OperatingSystem.IsWindows()
        ? "shows on a POSIX system only"
        : SuiteCatalog.Find(Suite).UnfitHere;
}

/// <summary>Every fault that can be planted in the engine.</summary>
internal static class PlantedFaultCatalog
{
    public static IReadOnlyList<FaultCase> All { get; } =
    [
        new(nameof(PlantedFault.KeepJournalVersion), "upgrade-cut", 4_000),
        new(nameof(PlantedFault.UpgradeRecordsAlone), "upgrade-cut", 4_000),
        new(nameof(PlantedFault.RaiseVersionLate), "upgrade-cut", 4_000),
        new(nameof(PlantedFault.ForgetPending), "backup-model", 1_500),
        new(nameof(PlantedFault.IgnoreLineages), "backup-model", 1_500),
        new(nameof(PlantedFault.CopyWithoutVersions), "backup-model", 1_500),
        new(nameof(PlantedFault.BelieveCopies), "backup-model", 1_500),
        new(nameof(PlantedFault.HoldWhileWaiting), "backup-model", 1_500),
        new(nameof(PlantedFault.BelieveCommitTimes), "backup-set", 400),
        new(nameof(PlantedFault.DeleteHeldBackups), "backup-set", 400),
        new(nameof(PlantedFault.PointAfterTrailer), "backup-cut", 4_000),
        new(nameof(DiskFault.LeaveCopyUnsynced), "backup-cut", 4_000),
        new(nameof(PlantedFault.PreferEarlierRun), "sort", 800),
        new(nameof(PlantedFault.BelieveSpilledBlocks), "sort", 800),
        new(nameof(PlantedFault.LeaveLastBlockOut), "sort", 800),
        new(nameof(PlantedFault.AdoptUntaken), "load-cut", 4_000),
        new(nameof(PlantedFault.AdoptChanged), "load-cut", 4_000),
        new(nameof(PlantedFault.WriteLoadedOnce), "load-cut", 20_000),
        new(nameof(PlantedFault.MoveByPosition), "compaction", 4_000) { First = 26 },
        new(nameof(PlantedFault.KeepOldChild), "compaction", 4_000),
        new(nameof(PlantedFault.ReserveUntaken), "compaction", 4_000),
        new(nameof(PlantedFault.CutBeforeFlush), "compaction", 8_000) { First = 11 },
        new(nameof(PlantedFault.KeepChunkSums), "compaction", 4_000),
        new(nameof(PlantedFault.KeepGroup), "compaction", 8_000) { First = 25 },
        new(nameof(PlantedFault.BelieveOrphans), "salvage-damage", 2_000) { First = 78 },
        new(nameof(PlantedFault.PreferOlder), "salvage-damage", 2_000) { First = 26 },
        new(nameof(PlantedFault.BelieveFinishedStamp), "salvage-damage", 4_000),
        new(nameof(PlantedFault.BelieveUsedPlaces), "salvage-damage", 4_000) { First = 28 },
        new(nameof(PlantedFault.MixNewerPages), "salvage-damage", 20_000) { First = 3_121 },
        new(nameof(PlantedFault.ForgetDirectWrites), "changes", 4_000),
        new(nameof(PlantedFault.ForgetReplayedWrites), "changes", 4_000),
        new(nameof(PlantedFault.ForgetInsideOfExtents), "changes", 16_000) { First = 45 },
        new(nameof(PlantedFault.SnapshotWithoutDirectWrites), "changes", 8_000),
        new(nameof(PlantedFault.CoverGap), "changes", 8_000) { First = 152 },
        new(nameof(PlantedFault.LookAtLogFirst), "changes", 4_000),
        new(nameof(DiskFault.CacheChangeLogWrites), "changes", 4_000),
        new(nameof(PlantedFault.BelieveForeignLog), "changes", 4_000),
        new(nameof(PlantedFault.MarkOfOtherTree), "model", 400_000),
        new(nameof(PlantedFault.UnpackWithFirstDictionary), "model", 400_000) { First = 1 },
        new(nameof(PlantedFault.DropNamedDictionaries), "model", 400_000) { First = 1 },
        new(nameof(DiskFault.LeaveDataUnsynced), "power-cut", 4_000),
        new(nameof(DiskFault.CacheJournalWrites), "power-cut", 4_000),
        new(nameof(DiskFault.CacheCheckpointWrites), "power-cut", 40_000) { First = 3 },
        new(nameof(PlantedFault.FlushPastOldestReader), "power-cut", 4_000),
        new(nameof(PlantedFault.FlushPastDurable), "power-cut", 4_000),
        new(nameof(PlantedFault.BelievePublished), "power-cut", 40_000) { First = 2 },
        new(nameof(PlantedFault.AppendToReplayedJournal), "power-cut", 4_000),
        new(nameof(PlantedFault.LeaveFreesOut), "power-cut", 4_000),
        new(nameof(PlantedFault.DiffAgainstSavepoint), "power-cut", 4_000),
        new(nameof(PlantedFault.LeaveImageOut), "power-cut", 4_000),
        new(nameof(PlantedFault.AcknowledgeUnsyncedExtents), "power-cut", 4_000),
        new(nameof(PlantedFault.BelieveUnsyncedExtents), "power-cut", 4_000),
        new(nameof(PlantedFault.WriteTouchedPages), "power-cut", 4_000),
        new(nameof(PlantedFault.AcknowledgeEmptyAtOnce), "power-cut", 4_000),
        new(nameof(DiskFault.RetryFailedSync), "io-fault", 5_000),
        new(nameof(PlantedFault.IgnorePoison), "io-fault", 5_000),
        new(nameof(PlantedFault.WriteWhenPoisoned), "io-fault", 5_000),
        new(nameof(PlantedFault.PunchUnflushed), "kill-then-cut", 40_000) { First = 2 },
        new(nameof(PlantedFault.TruncateUnflushed), "kill-then-cut", 40_000) { First = 2 },
        new(nameof(DiskFault.LeaveJournalUnsynced), "power-cut", 4_000),
        new(nameof(DiskFault.LeaveJournalNameUnsynced), "power-cut", 4_000),
        new(nameof(DiskFault.OneJournalHeader), "power-cut", 100_000) { Seed = 4, First = 6 },
        new(nameof(PlantedFault.OneCheckpointSlot), "power-cut", 60_000) { First = 12 },
        new(nameof(DiskFault.LeaveJournalSnapshotUnsynced), "power-cut", 4_000),
        new(nameof(PlantedFault.SkipSyncAtOpen), "kill-then-cut", 2_000) { First = 2 },
        new(nameof(PlantedFault.BelieveAnyRecord), "power-cut", 4_000),
        new(nameof(PlantedFault.BelieveBehindHole), "power-cut", 60_000) { First = 9 },
        new(nameof(PlantedFault.StopAtFileEnd), "power-cut", 4_000),
        new(nameof(PlantedFault.SkipListCheck), "power-cut", 4_000),
        new(nameof(PlantedFault.IgnoreReserve), "disk-full", 200),
        new(nameof(PlantedFault.StopAtPartialWrite), "io-fault", 5_000) { NeedsPosix = true, First = 3 },
        new(nameof(PlantedFault.BelieveClosedHeader), "kill-then-cut", 40_000) { Seed = 6, First = 14 },
        new(nameof(PlantedFault.BelievePages), "bit-rot", 2_000),
        new(nameof(PlantedFault.BelieveHeaders), "bit-rot", 20_000) { Seed = 165_571, First = 10 },
        new(nameof(PlantedFault.BelieveChunks), "bit-rot", 2_000),
        new(nameof(PlantedFault.BelieveJournalHeaders), "bit-rot", 200_000) { First = 167 },
        new(nameof(PlantedFault.BelievePageStructure), "malformed", 10_000) { EndsProcess = true },
        new(nameof(PlantedFault.BelieveDirectory), "malformed", 10_000) { EndsProcess = true, First = 560 },
        new(nameof(PlantedFault.TrustBlockWidth), "malformed", 10_000) { EndsProcess = true, Seed = 3, First = 2_806 },
        new(nameof(PlantedFault.BelieveChangeLengths), "malformed", 10_000) { First = 5_639 },
        new(nameof(PlantedFault.BelieveRowIds), "malformed", 10_000) { First = 23 },
        new(nameof(PlantedFault.BelieveStates), "boundary", 200) { First = 65 },
        new(nameof(PlantedFault.LoseRecordInSplit), "boundary", 200),
        new(nameof(PlantedFault.SearchMissesLast), "model", 400_000),
        new(nameof(PlantedFault.AllowLongerKeys), "boundary", 200),
        new(nameof(PlantedFault.EndStreamEarly), "boundary", 200),
        new(nameof(PlantedFault.KeepExtentOfDeleted), "equivalence", 16),
        new(nameof(PlantedFault.KeepExtentsOfRange), "model", 400_000),
        new(nameof(PlantedFault.FreeBoundaryLeaf), "model", 400_000),
        new(nameof(PlantedFault.CountWholeLeavesOnly), "model", 400_000),
        new(nameof(PlantedFault.ForgetOrder), "model", 400_000),
        new(nameof(PlantedFault.KeepKeyOfFirst), "model", 400_000),
        new(nameof(PlantedFault.PackWithoutLast), "model", 400_000),
        new(nameof(PlantedFault.ForgetSetCount), "model", 400_000),
        new(nameof(PlantedFault.KeepEmptySet), "model", 400_000),
        new(nameof(PlantedFault.ForgetLargeCount), "model", 400_000),
        new(nameof(PlantedFault.ForgetLargeCount), "power-cut", 40_000) { First = 2 },
        new(nameof(PlantedFault.KeepLargeSet), "model", 400_000) { First = 1 },
        new(nameof(PlantedFault.ExchangeUncompared), "model", 400_000),
        new(nameof(PlantedFault.FreeOneLess), "model", 400_000),
        new(nameof(PlantedFault.MiscountUsedPages), "model", 400_000),
        new(nameof(PlantedFault.SeeNextVersion), "model", 400_000),
        new(nameof(PlantedFault.ShowNeighbourOfDeleted), "model", 400_000),
        new(nameof(PlantedFault.MoveInDeletedTree), "model", 400_000),
        new(nameof(PlantedFault.KeepUncommittedNested), "model", 400_000),
        new(nameof(PlantedFault.LetHandlesEscape), "model", 400_000),
        new(nameof(PlantedFault.ForgetWaitingPuts), "model", 400_000),
        new(nameof(PlantedFault.KeepTreeOnce), "model", 400_000),
        new(nameof(PlantedFault.JoinNeededCopies), "model", 400_000),
        new(nameof(PlantedFault.KeepPageInRollback), "equivalence", 16),
        new(nameof(PlantedFault.WrapTransactionIds), "boundary", 200) { First = 63 },
        new(nameof(PlantedFault.LeaveOldIndexKeys), "index-agreement", 40_000),
        new(nameof(PlantedFault.ReuseRowId), "index-agreement", 40_000),
        new(nameof(PlantedFault.CheckUniqueTooLate), "index-agreement", 40_000),
        new(nameof(PlantedFault.KeepRowOfViolation), "index-agreement", 40_000),
        new(nameof(PlantedFault.SkipRowsBelowCursor), "evolve", 4_000),
        new(nameof(PlantedFault.ReadyBeforeLastSlice), "evolve", 4_000),
        new(nameof(PlantedFault.MoveCursorAlone), "evolve", 4_000),
        new(nameof(PlantedFault.KeepKeysOfChangedRows), "evolve", 4_000),
        new(nameof(PlantedFault.ForgetLastChanges), "evolve", 4_000),
        new(nameof(PlantedFault.KeepKeysOfLostRows), "evolve", 4_000),
        new(nameof(PlantedFault.ReturnExpiredRows), "index-agreement", 40_000),
        new(nameof(PlantedFault.LeaveExpiryKeys), "index-agreement", 40_000),
        new(nameof(PlantedFault.AddWithoutMember), "index-agreement", 40_000),
        new(nameof(PlantedFault.ReuseMember), "index-agreement", 40_000),
        new(nameof(PlantedFault.RemoveNextMember), "index-agreement", 40_000),
        new(nameof(PlantedFault.RemoveNextMember), "evolve", 4_000) { First = 5 },
        new(nameof(PlantedFault.BlockExpiredKeys), "index-agreement", 40_000),
        new(nameof(PlantedFault.ReadTimeAgain), "index-agreement", 40_000),
        new(nameof(PlantedFault.MeetMovedRows), "index-agreement", 40_000),
        new(nameof(PlantedFault.BelieveTokens), "index-agreement", 400_000),
        new(nameof(PlantedFault.WaitForItself), "index-agreement", 40_000),
        new(nameof(PlantedFault.BelieveIndexFunctions), "evolve", 4_000),
        new(nameof(PlantedFault.CommitPartOfDeletion), "bit-rot", 20_000),
        new(nameof(PlantedFault.ReuseRowVersions), "boundary", 200),
        new(nameof(PlantedFault.CallLimitFullDisk), "boundary", 200),
        new(nameof(PlantedFault.KeepDroppedDefinitions), "bounds", 36),
        new(nameof(PlantedFault.CacheWithoutLimit), "bounds", 36),
        new(nameof(PlantedFault.RestartWalk), "bounds", 36),
        new(nameof(PlantedFault.CommitEachTree), "bounds", 36),
        new(nameof(PlantedFault.KeepRestoredBlocks), "bounds", 36),
        new(nameof(PlantedFault.KeepRaisedVersion), "evolve", 4_000) { First = 56 },
        new(nameof(PlantedFault.DropAtSameVersion), "evolve", 4_000),
        new(nameof(PlantedFault.LeaveHeadWithoutExpiry), "evolve", 4_000),
        new(nameof(PlantedFault.RecordUnderNextId), "feed", 40_000),
        new(nameof(PlantedFault.CutPastConsumer), "feed", 40_000),
        new(nameof(PlantedFault.SkipLastOfBatch), "feed", 40_000),
        new(nameof(PlantedFault.BelieveAllOfParent), "feed", 100_000) { First = 5 },
        new(nameof(PlantedFault.ScanWithoutHorizon), "schedules", 20_000),
        new(nameof(PlantedFault.RegisterUnconfirmed), "schedules", 20_000),
        new(nameof(PlantedFault.JoinUnconfirmed), "schedules", 20_000),
        new(nameof(PlantedFault.ForkUncounted), "schedules", 4_000),
        new(nameof(PlantedFault.ForkUnchecked), "schedules", 4_000),
        new(nameof(PlantedFault.ForkNewest), "schedules", 4_000),
        new(nameof(PlantedFault.DropVersionsEarly), "schedules", 4_000),
        new(nameof(PlantedFault.PublishStateEarly), "schedules", 4_000),
        new(nameof(PlantedFault.KeepStateOfRollback), "schedules", 4_000),
        new(nameof(PlantedFault.PublishStateEarly), "isolation", 10_000),
        new(nameof(PlantedFault.KeepStateOfRollback), "isolation", 10_000),
        new(nameof(PlantedFault.TakeNewestState), "schedules", 4_000),
        new(nameof(PlantedFault.ForgetStateInRepublish), "schedules", 4_000),
        new(nameof(PlantedFault.FreeDetachedEarly), "schedules", 20_000) { First = 160 },
        new(nameof(PlantedFault.KeepGeneration), "schedules", 20_000) { First = 234 },
        new(nameof(PlantedFault.AcknowledgeBeforePublish), "schedules", 4_000),
        new(nameof(PlantedFault.AcknowledgeOutOfOrder), "schedules", 80_000) { First = 180 },
        new(nameof(PlantedFault.PublishSecondWriteFirst), "power-cut", 4_000),
        new(nameof(PlantedFault.OutliveFirstWrite), "schedules", 40_000),
        new(nameof(PlantedFault.FollowZeros), "power-cut", 4_000),
        new(nameof(PlantedFault.ConfirmWriteUnderWay), "power-cut", 4_000),
        new(nameof(PlantedFault.TakeLossForHole), "bit-rot", 20_000),
        new(nameof(PlantedFault.GrowSideBySide), "schedules", 40_000),
        new(nameof(PlantedFault.ZeroPagesInUse), "power-cut", 2_000),
        new(nameof(PlantedFault.RollBackNeighbours), "schedules", 4_000),
        new(nameof(PlantedFault.UseSpareTwice), "schedules", 4_000) { First = 408 },
        new(nameof(PlantedFault.TrustChangedKeyHeads), "schedules", 40_000) { First = 2_468 },
        new(nameof(PlantedFault.KeepKeyHeadsOverFlush), "schedules", 4_000),
        new(nameof(PlantedFault.ForgetToWake), "schedules", 4_000),
        new(nameof(PlantedFault.DetachUnderLock), "schedules", 4_000),
        new(nameof(PlantedFault.CloseBelowWrite), "slow-io", 4_000) { Seed = 6, First = 43 },
        new(nameof(PlantedFault.CountNoCalls), "slow-io", 2_000) { EndsProcess = true },
        new(nameof(PlantedFault.CallObserverBelowWrite), "callbacks", 400),
        new(nameof(PlantedFault.CommitAfterNoMemory), "memory-fault", 2_000),
        new(nameof(PlantedFault.KeepFailedVersions), "memory-fault", 2_000),
        new(nameof(PlantedFault.ForgetPendingPuts), "lifetimes", 500),
        new(nameof(PlantedFault.ReadChangedValues), "lifetimes", 500),
        new(nameof(PlantedFault.LeaveHoles), "lifetimes", 1_000),
        new(nameof(PlantedFault.FailWithoutFlush), "disk-full", 1_000) { First = 11 },
        new(nameof(PlantedFault.KeepBehindReader), "long-reader", 30_000),
        new(nameof(PlantedFault.KeepJournalSnapshots), "long-reader", 30_000),
        new(nameof(PlantedFault.ReadBehindFlush), "isolation", 60_000),
        new(nameof(PlantedFault.BelieveCutJournals), "bit-rot", 20_000) { First = 3 },
        new(nameof(PlantedFault.BelieveStamp), "copies", 8_000),
        new(nameof(PlantedFault.StampAtEnd), "copies", 40_000) { First = 16 },
        new(nameof(PlantedFault.BelieveStart), "copies", 40_000) { First = 48 },
        new(nameof(PlantedFault.LeaveFeaturesUnnamed), "copies", 8_000) { First = 4 },
        new(nameof(PlantedFault.BelieveSpareBytes), "bit-rot", 20_000) { First = 3 },
        new(nameof(PlantedFault.CountOverSnapshots), "model", 2_000_000) { First = 2 },

        new(nameof(PlantedFault.KeepLastDroppedLeaf), "model", 400_000) { First = 3 },
        new(nameof(PlantedFault.KeepDroppedValues), "power-cut", 40_000) { First = 5 },
        new(nameof(PlantedFault.ForgetDropsAtOpening), "kill", 400),

        // Found by the allocator that all suites use.
        new(nameof(PlantedFault.WritePastBlock), "power-cut", 4_000) { Shows = "memory: " },
        new(nameof(PlantedFault.FreeTwice), "power-cut", 4_000) { Shows = "memory: " },
        new(nameof(PlantedFault.ReadFreedBlock), "power-cut", 4_000) { Guard = true, EndsProcess = true },
        new(nameof(PlantedFault.KeepBlock), "power-cut", 60_000) { Shows = "memory: ", First = 4 },
        new(nameof(PlantedFault.WriteToPooled), "power-cut", 4_000) { Shows = "memory: " },
        new(nameof(PlantedFault.FreeDetachedEarly), "lifetimes", 2_000) { EndsProcess = true },
        new(nameof(PlantedFault.ForgetFreedSpace), "model", 2_000_000) { First = 9 },

        new(nameof(PlantedFault.FailWithNeighbours), "options", 400),
        new(nameof(PlantedFault.GroupCommitWithoutEnd), "options", 400),
        new(nameof(PlantedFault.KeepPutsOfFailed), "model", 400_000) { Seed = 2 },
        new(nameof(PlantedFault.ForgetOperationSavepoint), "model", 400_000),

        new(nameof(PlantedFault.StopAtFailedGrowth), "bounds", 36),
        new(nameof(PlantedFault.SnapshotWhatFits), "bounds", 36),
        new(nameof(PlantedFault.RetryAtOnce), "bounds", 36),
        new(nameof(PlantedFault.CountWholeJournal), "bounds", 36) { First = 3 },
        new(nameof(DiskFault.KeepJournalsOpen), "bounds", 36) { First = 4 },
        new(nameof(PlantedFault.ReserveForVolume), "bounds", 36) { First = 7 },
        new(nameof(PlantedFault.KeepWindows), "bounds", 36) { First = 6 },
        new(nameof(PlantedFault.KeepManyJournals), "bounds", 36) { First = 5 },
        new(nameof(PlantedFault.ScrubInOneSlice), "bounds", 36) { First = 8 },
        new(nameof(PlantedFault.PassMemoryErrors), "memory-fault", 2_000),
        new(nameof(PlantedFault.ListOwnedPages), "scale", 2),
        new(nameof(PlantedFault.PunchUnderWriter), "scale", 2) { First = 1 },
        new(nameof(PlantedFault.LocateAllMaps), "bounds", 36) { First = 9 },
        new(nameof(PlantedFault.BargeForEver), "bounds", 48) { First = 10 },
        new(nameof(PlantedFault.CompleteOnPool), "bounds", 48) { First = 11 },
        new(nameof(PlantedFault.ScrubTooFast), "bounds", 52) { First = 12 },

        // Also found by a second suite that is responsible for them.
        new(nameof(PlantedFault.LeaveOldIndexKeys), "power-cut", 4_000) { First = 3 },
        new(nameof(PlantedFault.LeaveOldIndexKeys), "equivalence", 16),
        new(nameof(PlantedFault.LeaveOldIndexKeys), "bit-rot", 2_000),
        new(nameof(PlantedFault.LeaveOldIndexKeys), "memory-fault", 2_000),
        new(nameof(PlantedFault.LeaveOldIndexKeys), "kill", 400),
        new(nameof(PlantedFault.LeaveOldIndexKeys), "io-fault", 4_000),
        new(nameof(PlantedFault.LeaveOldIndexKeys), "disk-full", 400),
        new(nameof(PlantedFault.LeaveOldIndexKeys), "backup-model", 1_500) { First = 5 },
        new(nameof(PlantedFault.LeaveOldIndexKeys), "backup-cut", 4_000) { First = 9 },
        new(nameof(PlantedFault.LeaveOldIndexKeys), "compaction", 4_000) { First = 21 },
        new(nameof(PlantedFault.LeaveOldIndexKeys), "changes", 4_000),
        new(nameof(PlantedFault.UnpackWithFirstDictionary), "power-cut", 40_000) { First = 51 },
        new(nameof(PlantedFault.RecordUnderNextId), "upgrade-cut", 4_000) { First = 3 },
        new(nameof(PlantedFault.AcknowledgeEmptyAtOnce), "schedules", 4_000),
        new(nameof(PlantedFault.LookAtLogFirst), "schedules", 4_000),
        new(nameof(PlantedFault.ForgetPending), "schedules", 4_000),
        new(nameof(PlantedFault.CopyWithoutVersions), "schedules", 4_000),
        new(nameof(PlantedFault.PointAfterTrailer), "schedules", 4_000),
        new(nameof(PlantedFault.MoveByPosition), "schedules", 4_000),
        new(nameof(PlantedFault.CutBeforeFlush), "schedules", 4_000),
        new(nameof(PlantedFault.CountWholeJournal), "options", 400) { First = 10 },
        new(nameof(PlantedFault.SkipSyncAtOpen), "recovery-cut", 4_000),
        new(nameof(PlantedFault.AcknowledgeBeforeWrite), "kill", 200),
        new(nameof(PlantedFault.DropVersionsEarly), "isolation", 60_000),
        new(nameof(PlantedFault.FollowLinks), "surroundings", 400) { First = 25 },
        new(nameof(PlantedFault.ChangeForeignDirectory), "surroundings", 400),
        new(nameof(PlantedFault.LockHeaderAlone), "surroundings", 400),
        new(nameof(PlantedFault.AcceptAnySpelling), "surroundings", 1_600) { First = 58 },
        new(nameof(PlantedFault.ForgetUnnamedJournals), "surroundings", 400) { First = 33 },
        new(nameof(PlantedFault.RemakeDataFile), "surroundings", 400),
        new(nameof(PlantedFault.ConfirmAtEachOpening), "surroundings", 400) { First = 73 },
        new(nameof(PlantedFault.KeepFlushedJournals), "surroundings", 400) { First = 73 },
        new(nameof(PlantedFault.IgnoreCut), "surroundings", 400),
        new(nameof(PlantedFault.ForgetReservations), "staging", 2_000),
        new(nameof(PlantedFault.KeepReservations), "staging", 2_000),
        new(nameof(PlantedFault.PunchReservations), "staging", 2_000),
        new(nameof(PlantedFault.TakeUnsynced), "power-cut", 20_000) { First = 4 },
        new(nameof(PlantedFault.KeepTakenStages), "staging", 2_000),
    ];

    /// <summary>The names of all switches in the engine.</summary>
    public static IEnumerable<string> EngineSwitches => SwitchesOf(typeof(PlantedFault));

    /// <summary>The names of all switches, those of the simulated disk included.</summary>
    public static IEnumerable<string> Switches => [.. EngineSwitches, .. SwitchesOf(typeof(DiskFault))];

    /// <summary>Returns the hunts for a fault: one for each suite that has to find it.</summary>
    /// <exception cref="TortureException">There is no such fault.</exception>
    public static IReadOnlyList<FaultCase> Find(string name) =>
        All.Where(fault => fault.Name.Equals(name, StringComparison.OrdinalIgnoreCase)).ToList() is { Count: > 0 } found
            ? found
            : throw new TortureException($"There is no fault '{name}'. There are: {string.Join(", ", All.Select(fault => fault.Name).Distinct())}.");

    private static IEnumerable<string> SwitchesOf(Type faults) =>
        faults.GetFields(BindingFlags.Static | BindingFlags.Public).Where(found => found.FieldType == typeof(bool)).Select(found => found.Name);
}
