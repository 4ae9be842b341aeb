namespace Voron.Testing;

/// <summary>
/// Deliberate faults that prove that the tests would detect them. Each is off, and the compiler folds it away, unless the process
/// sets the fault's name as application data under "Voron.PlantedFault" before it uses the engine.
/// </summary>
internal static partial class PlantedFault
{
    private static readonly string? Name = AppContext.GetData("Voron.PlantedFault") as string;

    /// <summary>Whether a fault is planted.</summary>
    public static bool IsPlanted => Name != null;

    /// <summary>An object that replaces another one attached to the state is visible to readers as soon as the transaction attaches it.</summary>
    public static readonly bool PublishStateEarly = Name == nameof(PublishStateEarly);

    /// <summary>A rollback to a savepoint keeps the objects that were attached to the state since.</summary>
    public static readonly bool KeepStateOfRollback = Name == nameof(KeepStateOfRollback);

    /// <summary>A reader sees the objects of the newest commit, even if its snapshot is older.</summary>
    public static readonly bool TakeNewestState = Name == nameof(TakeNewestState);

    /// <summary>A state that is published again, because versions were detached or the map has moved, loses the objects attached to it.</summary>
    public static readonly bool ForgetStateInRepublish = Name == nameof(ForgetStateInRepublish);

    /// <summary>New tree pages have the mark of another tree.</summary>
    public static readonly bool MarkOfOtherTree = Name == nameof(MarkOfOtherTree);

    /// <summary>The first record of a newer format version is written to the journal file of the older one.</summary>
    public static readonly bool KeepJournalVersion = Name == nameof(KeepJournalVersion);

    /// <summary>Records of a newer format version are written before the header has that version.</summary>
    public static readonly bool UpgradeRecordsAlone = Name == nameof(UpgradeRecordsAlone);

    /// <summary>An opening does not name a feature that replayed transactions have begun to use.</summary>
    public static readonly bool LeaveFeaturesUnnamed = Name == nameof(LeaveFeaturesUnnamed);

    /// <summary>A feature of the format is used before the header names it.</summary>
    public static readonly bool RaiseVersionLate = Name == nameof(RaiseVersionLate);

    /// <summary>A commit that waits for its record is acknowledged before the record is written.</summary>
    public static readonly bool AcknowledgeBeforeWrite = Name == nameof(AcknowledgeBeforeWrite);

    /// <summary>The flusher flushes the published state even though an older reader is registered.</summary>
    public static readonly bool FlushPastOldestReader = Name == nameof(FlushPastOldestReader);

    /// <summary>
    /// A commit that changes nothing is acknowledged when the lazy commits that it has read are published, not when they are durable.
    /// </summary>
    public static readonly bool BelievePublished = Name == nameof(BelievePublished);

    /// <summary>The flusher flushes a state that has been submitted but is not durable yet.</summary>
    public static readonly bool FlushPastDurable = Name == nameof(FlushPastDurable);

    /// <summary>After recovery, the journal continues in the file that was replayed.</summary>
    public static readonly bool AppendToReplayedJournal = Name == nameof(AppendToReplayedJournal);

    /// <summary>Transaction records omit the pages that the transaction frees.</summary>
    public static readonly bool LeaveFreesOut = Name == nameof(LeaveFreesOut);

    /// <summary>A record that names directly written extents is acknowledged even though they have not been synced.</summary>
    public static readonly bool AcknowledgeUnsyncedExtents = Name == nameof(AcknowledgeUnsyncedExtents);

    /// <summary>A recovery accepts the last records even if extents that they name were never written completely.</summary>
    public static readonly bool BelieveUnsyncedExtents = Name == nameof(BelieveUnsyncedExtents);

    /// <summary>A transaction writes new pages directly to the data file even if they are in use in the last checkpoint.</summary>
    public static readonly bool WriteTouchedPages = Name == nameof(WriteTouchedPages);

    /// <summary>Each flush omits one full-page image that is needed before a page is overwritten, and lists the page's checksum instead.</summary>
    public static readonly bool LeaveImageOut = Name == nameof(LeaveImageOut);

    /// <summary>A page is compared with its version at the last savepoint instead of its version at the last transaction.</summary>
    public static readonly bool DiffAgainstSavepoint = Name == nameof(DiffAgainstSavepoint);

    /// <summary>A poisoned environment continues as if nothing had failed.</summary>
    public static readonly bool IgnorePoison = Name == nameof(IgnorePoison);

    /// <summary>A poisoned environment writes its checkpoint once more when it is closed.</summary>
    public static readonly bool WriteWhenPoisoned = Name == nameof(WriteWhenPoisoned);

    /// <summary>Space is returned to the file system as soon as it is free, even if the data file does not show it as free yet.</summary>
    public static readonly bool PunchUnflushed = Name == nameof(PunchUnflushed);

    /// <summary>The data file is cut even though the checkpoint has pages beyond the cut.</summary>
    public static readonly bool TruncateUnflushed = Name == nameof(TruncateUnflushed);

    /// <summary>Every checkpoint is written to the same slot as the last one.</summary>
    public static readonly bool OneCheckpointSlot = Name == nameof(OneCheckpointSlot);

    /// <summary>An open builds on data that a killed process left visible, without syncing it first.</summary>
    public static readonly bool SkipSyncAtOpen = Name == nameof(SkipSyncAtOpen);

    /// <summary>A header that marks the environment as closed is trusted even though a journal file has been begun since.</summary>
    public static readonly bool BelieveClosedHeader = Name == nameof(BelieveClosedHeader);

    /// <summary>A record counts regardless of its checksum.</summary>
    public static readonly bool BelieveAnyRecord = Name == nameof(BelieveAnyRecord);

    /// <summary>A record counts even though an earlier one is missing.</summary>
    public static readonly bool BelieveBehindHole = Name == nameof(BelieveBehindHole);

    /// <summary>Replay ends with the journal file in which it began.</summary>
    public static readonly bool StopAtFileEnd = Name == nameof(StopAtFileEnd);

    /// <summary>Replayed pages are not checked against the list of the flush that may have damaged them.</summary>
    public static readonly bool SkipListCheck = Name == nameof(SkipListCheck);

    /// <summary>A commit uses the journal space that is reserved for a flush of everything.</summary>
    public static readonly bool IgnoreReserve = Name == nameof(IgnoreReserve);

    /// <summary>A write that the system has completed only partially counts as complete.</summary>
    public static readonly bool StopAtPartialWrite = Name == nameof(StopAtPartialWrite);

    /// <summary>The checksum of a page is not checked.</summary>
    public static readonly bool BelievePages = Name == nameof(BelievePages);

    /// <summary>The checksum of a slot of the header file is not checked.</summary>
    public static readonly bool BelieveHeaders = Name == nameof(BelieveHeaders);

    /// <summary>The checksums of large values are not checked.</summary>
    public static readonly bool BelieveChunks = Name == nameof(BelieveChunks);

    /// <summary>Differing copies of a journal file's header are always taken for an epoch that has not begun.</summary>
    public static readonly bool BelieveJournalHeaders = Name == nameof(BelieveJournalHeaders);

    /// <summary>The page that the root of the section maps names as a directory is used unchecked.</summary>
    public static readonly bool BelieveDirectory = Name == nameof(BelieveDirectory);

    /// <summary>A page with a correct checksum is used without a check of its structure.</summary>
    public static readonly bool BelievePageStructure = Name == nameof(BelievePageStructure);

    /// <summary>The content of a checkpoint with a correct checksum is used unchecked.</summary>
    public static readonly bool BelieveStates = Name == nameof(BelieveStates);

    /// <summary>A leaf loses its last record when it is split.</summary>
    public static readonly bool LoseRecordInSplit = Name == nameof(LoseRecordInSplit);

    /// <summary>A search ignores the last record of a page.</summary>
    public static readonly bool SearchMissesLast = Name == nameof(SearchMissesLast);

    /// <summary>Keys may be one byte longer than their limit.</summary>
    public static readonly bool AllowLongerKeys = Name == nameof(AllowLongerKeys);

    /// <summary>The stream of a value that is stored in pages of its own ends one byte before the value does.</summary>
    public static readonly bool EndStreamEarly = Name == nameof(EndStreamEarly);

    /// <summary>The pages of a deleted entry's value are not freed.</summary>
    public static readonly bool KeepExtentOfDeleted = Name == nameof(KeepExtentOfDeleted);

    /// <summary>An exchange stores its value without comparing the existing value.</summary>
    public static readonly bool ExchangeUncompared = Name == nameof(ExchangeUncompared);

    /// <summary>When several pages are freed, the last one stays marked as used.</summary>
    public static readonly bool FreeOneLess = Name == nameof(FreeOneLess);

    /// <summary>Freeing pages lowers a section's count of used pages by one too few.</summary>
    public static readonly bool MiscountUsedPages = Name == nameof(MiscountUsedPages);

    /// <summary>A reader sees the transaction after its snapshot.</summary>
    public static readonly bool SeeNextVersion = Name == nameof(SeeNextVersion);

    /// <summary>A rollback to a savepoint does not restore the first page that was changed.</summary>
    public static readonly bool KeepPageInRollback = Name == nameof(KeepPageInRollback);

    /// <summary>Transaction ids have no upper limit.</summary>
    public static readonly bool WrapTransactionIds = Name == nameof(WrapTransactionIds);

    /// <summary>The slots of readers are scanned although the horizon has not been raised.</summary>
    public static readonly bool ScanWithoutHorizon = Name == nameof(ScanWithoutHorizon);

    /// <summary>A reader does not check the horizon after it has stored its snapshot.</summary>
    public static readonly bool RegisterUnconfirmed = Name == nameof(RegisterUnconfirmed);

    /// <summary>The flusher joins a reader that has not yet confirmed that it may use its snapshot.</summary>
    public static readonly bool JoinUnconfirmed = Name == nameof(JoinUnconfirmed);

    /// <summary>A fork of a read transaction is registered without making a scan that is under way repeat itself.</summary>
    public static readonly bool ForkUncounted = Name == nameof(ForkUncounted);

    /// <summary>A fork of a read transaction is begun even if the transaction has ended before the fork was registered.</summary>
    public static readonly bool ForkUnchecked = Name == nameof(ForkUnchecked);

    /// <summary>A fork of a read transaction sees the newest state instead of that of the transaction.</summary>
    public static readonly bool ForkNewest = Name == nameof(ForkNewest);

    /// <summary>Versions are dropped once their successor has been submitted, one transaction before it is published.</summary>
    public static readonly bool DropVersionsEarly = Name == nameof(DropVersionsEarly);

    /// <summary>Frames of detached versions are reused even though a reader may hold them.</summary>
    public static readonly bool FreeDetachedEarly = Name == nameof(FreeDetachedEarly);

    /// <summary>A node of the version table is reused with the same generation.</summary>
    public static readonly bool KeepGeneration = Name == nameof(KeepGeneration);

    /// <summary>A record counts as durable for waiting threads as soon as its write begins.</summary>
    public static readonly bool AcknowledgeBeforePublish = Name == nameof(AcknowledgeBeforePublish);

    /// <summary>Of the commits in one write, the last is acknowledged first.</summary>
    public static readonly bool AcknowledgeOutOfOrder = Name == nameof(AcknowledgeOutOfOrder);

    /// <summary>The second of two journal writes under way is published without waiting for the first.</summary>
    public static readonly bool PublishSecondWriteFirst = Name == nameof(PublishSecondWriteFirst);

    /// <summary>The second of two journal writes under way is published although the first has failed.</summary>
    public static readonly bool OutliveFirstWrite = Name == nameof(OutliveFirstWrite);

    /// <summary>A second journal write begins while the first one continues with zeros in its place.</summary>
    public static readonly bool FollowZeros = Name == nameof(FollowZeros);

    /// <summary>The records of the second of two journal writes under way confirm the durability of those of the first.</summary>
    public static readonly bool ConfirmWriteUnderWay = Name == nameof(ConfirmWriteUnderWay);

    /// <summary>A recovery takes a missing record for one of a write that was in progress, although a later one says that it was durable.</summary>
    public static readonly bool TakeLossForHole = Name == nameof(TakeLossForHole);

    /// <summary>The data file is grown ahead of need without excluding the writer, which grows and cuts it.</summary>
    public static readonly bool GrowSideBySide = Name == nameof(GrowSideBySide);

    /// <summary>Zeros are written ahead of need to pages that have addresses already.</summary>
    public static readonly bool ZeroPagesInUse = Name == nameof(ZeroPagesInUse);

    /// <summary>The rollback of one group-commit operation also undoes the operations before it.</summary>
    public static readonly bool RollBackNeighbours = Name == nameof(RollBackNeighbours);

    /// <summary>The spare journal file remains the spare after it has become the current one.</summary>
    public static readonly bool UseSpareTwice = Name == nameof(UseSpareTwice);

    /// <summary>Key heads read in place of a page are trusted even though their entry has been rewritten in the meantime.</summary>
    public static readonly bool TrustChangedKeyHeads = Name == nameof(TrustChangedKeyHeads);

    /// <summary>The key heads of a page survive a flush that changes the page.</summary>
    public static readonly bool KeepKeyHeadsOverFlush = Name == nameof(KeepKeyHeadsOverFlush);

    /// <summary>A thread that stops leading the journal wakes no other thread for the records that are still queued.</summary>
    public static readonly bool ForgetToWake = Name == nameof(ForgetToWake);

    /// <summary>Versions are kept while any older reader is open, whether or not it could see them.</summary>
    public static readonly bool KeepBehindReader = Name == nameof(KeepBehindReader);

    /// <summary>A reader waits, for at most five milliseconds, while the disk stalls a flush. Planted in the suite, not in the engine.</summary>
    public static readonly bool ReadBehindFlush = Name == nameof(ReadBehindFlush);

    /// <summary>The remaining part of a journal file that has become shorter is accepted as the whole file.</summary>
    public static readonly bool BelieveCutJournals = Name == nameof(BelieveCutJournals);

    /// <summary>Replay starts where the header says, whether or not the journal file reaches that far.</summary>
    public static readonly bool BelieveStart = Name == nameof(BelieveStart);

    /// <summary>A data file of any checkpoint is accepted with any header.</summary>
    public static readonly bool BelieveStamp = Name == nameof(BelieveStamp);

    /// <summary>The data file is not marked as being flushed before its first page is overwritten.</summary>
    public static readonly bool StampAtEnd = Name == nameof(StampAtEnd);

    /// <summary>An operation that runs out of memory half-way leaves a transaction that can still be committed.</summary>
    public static readonly bool CommitAfterNoMemory = Name == nameof(CommitAfterNoMemory);

    /// <summary>A commit that changes nothing is acknowledged even though the data it read may still be on its way to the journal.</summary>
    public static readonly bool AcknowledgeEmptyAtOnce = Name == nameof(AcknowledgeEmptyAtOnce);

    /// <summary>A group-commit operation fails when its neighbours have left it no room, as if it found none on its own.</summary>
    public static readonly bool FailWithNeighbours = Name == nameof(FailWithNeighbours);

    /// <summary>The waiting puts of a group-commit operation that throws stay in the buffer.</summary>
    public static readonly bool KeepPutsOfFailed = Name == nameof(KeepPutsOfFailed);

    /// <summary>A group-commit operation that does more than put gets no savepoint.</summary>
    public static readonly bool ForgetOperationSavepoint = Name == nameof(ForgetOperationSavepoint);

    /// <summary>A group-commit batch does not end when it has changed enough bytes.</summary>
    public static readonly bool GroupCommitWithoutEnd = Name == nameof(GroupCommitWithoutEnd);

    /// <summary>A transaction that is rolled back leaves its versions in the table.</summary>
    public static readonly bool KeepFailedVersions = Name == nameof(KeepFailedVersions);

    /// <summary>Puts whose streams are still being read are ignored when their transaction is committed or rolled back.</summary>
    public static readonly bool ForgetPendingPuts = Name == nameof(ForgetPendingPuts);

    /// <summary>A transaction that finds no room fails, even where a flush could make room.</summary>
    public static readonly bool FailWithoutFlush = Name == nameof(FailWithoutFlush);

    /// <summary>Pages whose blocks were returned to the file system are reused without blocks.</summary>
    public static readonly bool LeaveHoles = Name == nameof(LeaveHoles);

    /// <summary>The stream of a value continues to read from the value's former place.</summary>
    public static readonly bool ReadChangedValues = Name == nameof(ReadChangedValues);

    /// <summary>A cursor on a deleted entry shows its neighbour.</summary>
    public static readonly bool ShowNeighbourOfDeleted = Name == nameof(ShowNeighbourOfDeleted);

    /// <summary>A commit keeps the uncommitted changes of open nested transactions.</summary>
    public static readonly bool KeepUncommittedNested = Name == nameof(KeepUncommittedNested);

    /// <summary>Handles of a group-commit operation remain usable in later operations.</summary>
    public static readonly bool LetHandlesEscape = Name == nameof(LetHandlesEscape);

    /// <summary>A cursor of a deleted tree continues as if the tree were empty.</summary>
    public static readonly bool MoveInDeletedTree = Name == nameof(MoveInDeletedTree);

    /// <summary>A buffer with waiting puts counts as free, so the puts are lost when another tree takes it over.</summary>
    public static readonly bool ForgetWaitingPuts = Name == nameof(ForgetWaitingPuts);

    /// <summary>The state of a tree at a savepoint is not saved if an earlier savepoint has saved the tree.</summary>
    public static readonly bool KeepTreeOnce = Name == nameof(KeepTreeOnce);

    /// <summary>The end of a savepoint removes copies that the enclosing savepoints need.</summary>
    public static readonly bool JoinNeededCopies = Name == nameof(JoinNeededCopies);

    /// <summary>Symbolic links in place of files are followed.</summary>
    public static readonly bool FollowLinks = Name == nameof(FollowLinks);

    /// <summary>File names are still changed after the locked file has been replaced.</summary>
    public static readonly bool ChangeForeignDirectory = Name == nameof(ChangeForeignDirectory);

    /// <summary>The data file has a shared lock: only the header is locked against other environments.</summary>
    public static readonly bool LockHeaderAlone = Name == nameof(LockHeaderAlone);

    /// <summary>A number in a file name may have any number of leading zeros.</summary>
    public static readonly bool AcceptAnySpelling = Name == nameof(AcceptAnySpelling);

    /// <summary>A journal file that comes back under the name it had while it was being created is treated as unfinished.</summary>
    public static readonly bool ForgetUnnamedJournals = Name == nameof(ForgetUnnamedJournals);

    /// <summary>A data file beside an unfinished header is treated as unfinished too.</summary>
    public static readonly bool RemakeDataFile = Name == nameof(RemakeDataFile);

    /// <summary>The bytes of a page header that no checksum covers are not checked.</summary>
    public static readonly bool BelieveSpareBytes = Name == nameof(BelieveSpareBytes);

    /// <summary>The scrubber compares the counts of a tree with its header even though the tree has changed since the scrubber began.</summary>
    public static readonly bool CountOverSnapshots = Name == nameof(CountOverSnapshots);

    /// <summary>Closing does not wait for a journal write in progress.</summary>
    public static readonly bool CloseBelowWrite = Name == nameof(CloseBelowWrite);

    /// <summary>The user's observers are called by engine threads, on which commits of other threads depend.</summary>
    public static readonly bool CallObserverBelowWrite = Name == nameof(CallObserverBelowWrite);

    /// <summary>Calls that use the files of an environment do not prevent the files from being closed.</summary>
    public static readonly bool CountNoCalls = Name == nameof(CountNoCalls);

    /// <summary>A reader may keep any number of journal files live as long as their bytes are below the limit.</summary>
    public static readonly bool KeepManyJournals = Name == nameof(KeepManyJournals);

    /// <summary>A background verification waits for an eighth of the time that its bytes should take.</summary>
    public static readonly bool ScrubTooFast = Name == nameof(ScrubTooFast);

    /// <summary>Each open confirms the durability of the journal again, in a journal file that it begins for that purpose.</summary>
    public static readonly bool ConfirmAtEachOpening = Name == nameof(ConfirmAtEachOpening);

    /// <summary>An open that has nothing to flush releases no journal files.</summary>
    public static readonly bool KeepFlushedJournals = Name == nameof(KeepFlushedJournals);

    /// <summary>A journal snapshot is kept after another one has replaced it.</summary>
    public static readonly bool KeepJournalSnapshots = Name == nameof(KeepJournalSnapshots);

    /// <summary>A flush waits for the writer while it holds its lock.</summary>
    public static readonly bool DetachUnderLock = Name == nameof(DetachUnderLock);

    /// <summary>A failed step of the flusher's thread, such as growing ahead of need, ends the round, so nothing is flushed in it.</summary>
    public static readonly bool StopAtFailedGrowth = Name == nameof(StopAtFailedGrowth);

    /// <summary>The size of a journal snapshot is not checked in advance: its pages are written until the disk is full.</summary>
    public static readonly bool SnapshotWhatFits = Name == nameof(SnapshotWhatFits);

    /// <summary>A failed operation is retried immediately.</summary>
    public static readonly bool RetryAtOnce = Name == nameof(RetryAtOnce);

    /// <summary>The whole of a journal file counts towards the journal limit, flushed or not.</summary>
    public static readonly bool CountWholeJournal = Name == nameof(CountWholeJournal);

    /// <summary>Addresses are reserved for every page that the volume could hold, however few addresses the process may have.</summary>
    public static readonly bool ReserveForVolume = Name == nameof(ReserveForVolume);

    /// <summary>Recovery keeps memory and a descriptor for each journal file.</summary>
    public static readonly bool KeepWindows = Name == nameof(KeepWindows);

    /// <summary>An open that runs out of memory passes on the exception that the runtime throws.</summary>
    public static readonly bool PassMemoryErrors = Name == nameof(PassMemoryErrors);

    /// <summary>The background verification holds one snapshot from beginning to end.</summary>
    public static readonly bool ScrubInOneSlice = Name == nameof(ScrubInOneSlice);

    /// <summary>The verification keeps a number for each page instead of a bit.</summary>
    public static readonly bool ListOwnedPages = Name == nameof(ListOwnedPages);

    /// <summary>Free space is returned to the file system while the writer is held.</summary>
    public static readonly bool PunchUnderWriter = Name == nameof(PunchUnderWriter);

    /// <summary>The first transaction after an open reads the map pages of all groups of sections.</summary>
    public static readonly bool LocateAllMaps = Name == nameof(LocateAllMaps);

    /// <summary>A flush does not check whether the data file still has its pages.</summary>
    public static readonly bool IgnoreCut = Name == nameof(IgnoreCut);

    /// <summary>Decompressing a record writes one byte past the end of its block.</summary>
    public static readonly bool WritePastBlock = Name == nameof(WritePastBlock);

    /// <summary>The block of a decompressed record is freed twice.</summary>
    public static readonly bool FreeTwice = Name == nameof(FreeTwice);

    /// <summary>The block of a decompressed record is read again after it has been freed.</summary>
    public static readonly bool ReadFreedBlock = Name == nameof(ReadFreedBlock);

    /// <summary>The block into which a page was read for its image is not freed.</summary>
    public static readonly bool KeepBlock = Name == nameof(KeepBlock);

    /// <summary>A pooled record buffer is written to after it has been returned.</summary>
    public static readonly bool WriteToPooled = Name == nameof(WriteToPooled);

    /// <summary>The search for room does not look again at the space that a flush has freed for values.</summary>
    public static readonly bool ForgetFreedSpace = Name == nameof(ForgetFreedSpace);

    /// <summary>A caller that arrives while the writer is free takes it, however long another caller has waited.</summary>
    public static readonly bool BargeForEver = Name == nameof(BargeForEver);

    /// <summary>Tasks are completed by the thread pool only.</summary>
    public static readonly bool CompleteOnPool = Name == nameof(CompleteOnPool);

    /// <summary>Searches for free pages find those that are reserved for staged values.</summary>
    public static readonly bool ForgetReservations = Name == nameof(ForgetReservations);

    /// <summary>Pages that were reserved for a staged value never become available again.</summary>
    public static readonly bool KeepReservations = Name == nameof(KeepReservations);

    /// <summary>Pages to which a staged value is being written are returned to the file system.</summary>
    public static readonly bool PunchReservations = Name == nameof(PunchReservations);

    /// <summary>A staged value can be put before its bytes are durable.</summary>
    public static readonly bool TakeUnsynced = Name == nameof(TakeUnsynced);

    /// <summary>A staged value that was put in a transaction is lost when the transaction is rolled back.</summary>
    public static readonly bool KeepTakenStages = Name == nameof(KeepTakenStages);

    /// <summary>A thread whose write transaction is still open waits for its end when it begins another one.</summary>
    public static readonly bool WaitForItself = Is(nameof(WaitForItself));

    /// <summary>A transaction above its limit is refused as if the disk were full.</summary>
    public static readonly bool CallLimitFullDisk = Is(nameof(CallLimitFullDisk));
}
