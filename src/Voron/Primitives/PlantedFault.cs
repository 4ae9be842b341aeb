namespace Voron.Primitives;

/// <summary>
/// Deliberate faults, by which the tests show that they would notice. Each is off, and folded away by the compiler, unless the
/// process sets the name as application data under "Voron.PlantedFault" before it uses the engine.
/// </summary>
internal static class PlantedFault
{
    private static readonly string? Name = AppContext.GetData("Voron.PlantedFault") as string;

    /// <summary>Whether any of them is on.</summary>
    public static bool IsPlanted => Name != null;

    /// <summary>The flusher moves the checkpoint without having synced the data file.</summary>
    public static readonly bool SkipSyncBeforeCheckpoint = Name == nameof(SkipSyncBeforeCheckpoint);

    /// <summary>Commits are published and acknowledged before they are written.</summary>
    public static readonly bool AcknowledgeBeforeWrite = Name == nameof(AcknowledgeBeforeWrite);

    /// <summary>Journal files are reused before the checkpoint that makes them superfluous is durable.</summary>
    public static readonly bool RecycleJournalEarly = Name == nameof(RecycleJournalEarly);

    /// <summary>The flusher takes the published state although an older reader is registered.</summary>
    public static readonly bool FlushPastOldestReader = Name == nameof(FlushPastOldestReader);

    /// <summary>The flusher takes a state that has been submitted and is not durable yet.</summary>
    public static readonly bool FlushPastDurable = Name == nameof(FlushPastDurable);

    /// <summary>After recovery the journal goes on in the file that was replayed.</summary>
    public static readonly bool AppendToReplayedJournal = Name == nameof(AppendToReplayedJournal);

    /// <summary>Transaction records do not say which pages they free.</summary>
    public static readonly bool LeaveFreesOut = Name == nameof(LeaveFreesOut);

    /// <summary>The record that names a large value is submitted although the value has not been synced.</summary>
    public static readonly bool SubmitBeforeValueSync = Name == nameof(SubmitBeforeValueSync);

    /// <summary>Of the pages that need an image before they are overwritten, each flush leaves one out and lists its checksum.</summary>
    public static readonly bool LeaveImageOut = Name == nameof(LeaveImageOut);

    /// <summary>A page is compared with its version at the last savepoint rather than with that of the last transaction.</summary>
    public static readonly bool DiffAgainstSavepoint = Name == nameof(DiffAgainstSavepoint);

    /// <summary>A sync of the data file that failed is tried again, and what the second says is believed.</summary>
    public static readonly bool RetryFailedSync = Name == nameof(RetryFailedSync);

    /// <summary>An environment that is poisoned goes on.</summary>
    public static readonly bool IgnorePoison = Name == nameof(IgnorePoison);

    /// <summary>A poisoned environment writes its checkpoint once more when it is closed.</summary>
    public static readonly bool WriteWhenPoisoned = Name == nameof(WriteWhenPoisoned);

    /// <summary>Space is given back to the file system as soon as it is free, whether the data file knows it or not.</summary>
    public static readonly bool PunchUnflushed = Name == nameof(PunchUnflushed);

    /// <summary>The data file is cut although the checkpoint has pages behind the cut.</summary>
    public static readonly bool TruncateUnflushed = Name == nameof(TruncateUnflushed);

    /// <summary>A new journal file is used although its length is not durable.</summary>
    public static readonly bool LeaveJournalUnsynced = Name == nameof(LeaveJournalUnsynced);

    /// <summary>A new journal file is used although its name is not durable.</summary>
    public static readonly bool LeaveJournalNameUnsynced = Name == nameof(LeaveJournalNameUnsynced);

    /// <summary>Of the two copies of a journal file's header only the first is written.</summary>
    public static readonly bool OneJournalHeader = Name == nameof(OneJournalHeader);

    /// <summary>A journal file whose header has one whole copy is used again.</summary>
    public static readonly bool ReuseOneHeader = Name == nameof(ReuseOneHeader);

    /// <summary>Every checkpoint goes to the slot that the last one went to.</summary>
    public static readonly bool OneCheckpointSlot = Name == nameof(OneCheckpointSlot);

    /// <summary>The header names a rewrite file whose name and length are not durable.</summary>
    public static readonly bool LeaveJournalSnapshotUnsynced = Name == nameof(LeaveJournalSnapshotUnsynced);

    /// <summary>What a killed process left in sight is built on without having been synced.</summary>
    public static readonly bool SkipSyncAtOpen = Name == nameof(SkipSyncAtOpen);

    /// <summary>A header that says that the environment was closed is believed although a journal file was begun since.</summary>
    public static readonly bool BelieveClosedHeader = Name == nameof(BelieveClosedHeader);

    /// <summary>A record counts whatever its checksum says.</summary>
    public static readonly bool BelieveAnyRecord = Name == nameof(BelieveAnyRecord);

    /// <summary>A record counts although one before it is missing.</summary>
    public static readonly bool BelieveBehindHole = Name == nameof(BelieveBehindHole);

    /// <summary>Replay ends with the journal file that it began in.</summary>
    public static readonly bool StopAtFileEnd = Name == nameof(StopAtFileEnd);

    /// <summary>Replayed pages are not held against the list of the flush that may have damaged them.</summary>
    public static readonly bool SkipListCheck = Name == nameof(SkipListCheck);

    /// <summary>A commit takes the room that a flush of everything needs in the journal.</summary>
    public static readonly bool IgnoreReserve = Name == nameof(IgnoreReserve);

    /// <summary>A write of which the system has done a part counts as done.</summary>
    public static readonly bool StopAtPartialWrite = Name == nameof(StopAtPartialWrite);

    /// <summary>The checksum of a page is not looked at.</summary>
    public static readonly bool BelievePages = Name == nameof(BelievePages);

    /// <summary>The checksum of a slot of the header file is not looked at.</summary>
    public static readonly bool BelieveHeaders = Name == nameof(BelieveHeaders);

    /// <summary>The checksums of large values are not looked at.</summary>
    public static readonly bool BelieveChunks = Name == nameof(BelieveChunks);

    /// <summary>Two copies of a journal file's header that differ are always taken for a life that has not begun.</summary>
    public static readonly bool BelieveJournalHeaders = Name == nameof(BelieveJournalHeaders);

    /// <summary>The page that the root of the section maps names as a directory is used unseen.</summary>
    public static readonly bool BelieveDirectory = Name == nameof(BelieveDirectory);

    /// <summary>A page is used as it is when its checksum is right.</summary>
    public static readonly bool BelievePageStructure = Name == nameof(BelievePageStructure);

    /// <summary>What a checkpoint says is used as it is when its checksum is right.</summary>
    public static readonly bool BelieveStates = Name == nameof(BelieveStates);

    /// <summary>A leaf that is divided loses its last record.</summary>
    public static readonly bool LoseRecordInSplit = Name == nameof(LoseRecordInSplit);

    /// <summary>A search does not look at the last record of a page.</summary>
    public static readonly bool SearchMissesLast = Name == nameof(SearchMissesLast);

    /// <summary>Keys may be one byte longer than their limit.</summary>
    public static readonly bool AllowLongerKeys = Name == nameof(AllowLongerKeys);

    /// <summary>The stream of a value that stands in pages of its own ends a byte before the value.</summary>
    public static readonly bool EndStreamEarly = Name == nameof(EndStreamEarly);

    /// <summary>The pages of a deleted entry's value are not freed.</summary>
    public static readonly bool KeepExtentOfDeleted = Name == nameof(KeepExtentOfDeleted);

    /// <summary>Of several pages that are freed, the last stays marked as used.</summary>
    public static readonly bool FreeOneLess = Name == nameof(FreeOneLess);

    /// <summary>Freeing pages lowers the count of a section's used pages by one too few.</summary>
    public static readonly bool MiscountUsedPages = Name == nameof(MiscountUsedPages);

    /// <summary>A reader sees the transaction behind its snapshot.</summary>
    public static readonly bool SeeNextVersion = Name == nameof(SeeNextVersion);

    /// <summary>A rollback to a savepoint leaves the first page that was changed as it is.</summary>
    public static readonly bool KeepPageInRollback = Name == nameof(KeepPageInRollback);

    /// <summary>There is no last transaction id.</summary>
    public static readonly bool WrapTransactionIds = Name == nameof(WrapTransactionIds);

    /// <summary>Readers are looked for before the horizon is raised that keeps new ones away.</summary>
    public static readonly bool ScanBeforeHorizon = Name == nameof(ScanBeforeHorizon);

    /// <summary>A reader does not look at the horizon after it has stored its snapshot.</summary>
    public static readonly bool RegisterUnconfirmed = Name == nameof(RegisterUnconfirmed);

    /// <summary>The flusher joins a reader that has not yet found out whether it may have its snapshot.</summary>
    public static readonly bool JoinUnconfirmed = Name == nameof(JoinUnconfirmed);

    /// <summary>Versions are dropped when their successor has been submitted, one transaction before it is published.</summary>
    public static readonly bool DropVersionsEarly = Name == nameof(DropVersionsEarly);

    /// <summary>Frames of detached versions are used again although a reader may hold them.</summary>
    public static readonly bool FreeDetachedEarly = Name == nameof(FreeDetachedEarly);

    /// <summary>A node of the version table is used again under the same generation.</summary>
    public static readonly bool KeepGeneration = Name == nameof(KeepGeneration);

    /// <summary>Whoever waits for a record is let go before its transaction is published.</summary>
    public static readonly bool AcknowledgeBeforePublish = Name == nameof(AcknowledgeBeforePublish);

    /// <summary>Of the commits of one write the last is acknowledged first.</summary>
    public static readonly bool AcknowledgeOutOfOrder = Name == nameof(AcknowledgeOutOfOrder);

    /// <summary>The data file is grown ahead of need without regard for the writer, who grows and cuts it.</summary>
    public static readonly bool GrowSideBySide = Name == nameof(GrowSideBySide);

    /// <summary>The rollback of one merged operation takes back those before it too.</summary>
    public static readonly bool RollBackNeighbours = Name == nameof(RollBackNeighbours);

    /// <summary>The spare journal file stays the spare when it has become the current one.</summary>
    public static readonly bool UseSpareTwice = Name == nameof(UseSpareTwice);

    /// <summary>What was read of heads beside a page is believed although the entry has been written anew meanwhile.</summary>
    public static readonly bool TrustChangedKeyHeads = Name == nameof(TrustChangedKeyHeads);

    /// <summary>Heads beside a page outlive the flush that changes the page.</summary>
    public static readonly bool KeepKeyHeadsOverFlush = Name == nameof(KeepKeyHeadsOverFlush);

    /// <summary>Who waits for the journal's leader is not woken when it has written.</summary>
    public static readonly bool ForgetToWake = Name == nameof(ForgetToWake);

    /// <summary>Versions are kept while any older reader is open, whether it could see them or not.</summary>
    public static readonly bool KeepBehindReader = Name == nameof(KeepBehindReader);

    /// <summary>A rewrite file stays when another one stands in its place.</summary>
    public static readonly bool KeepJournalSnapshots = Name == nameof(KeepJournalSnapshots);

    /// <summary>A reader waits for a flush that is under way, for five milliseconds at most.</summary>
    public static readonly bool ReadBehindFlush = Name == nameof(ReadBehindFlush);

    /// <summary>Of a journal file that has become shorter, what is left is all there is.</summary>
    public static readonly bool BelieveCutJournals = Name == nameof(BelieveCutJournals);

    /// <summary>A life number is given out again although the file that had it may come back, and replay tells files apart by it.</summary>
    public static readonly bool RepeatEpochs = Name == nameof(RepeatEpochs);

    /// <summary>Replay starts where the header says, whether the journal file reaches to there or not.</summary>
    public static readonly bool BelieveStart = Name == nameof(BelieveStart);

    /// <summary>A data file of any checkpoint is used with any header.</summary>
    public static readonly bool BelieveStamp = Name == nameof(BelieveStamp);

    /// <summary>The data file is not marked as being flushed before its first page is overwritten.</summary>
    public static readonly bool StampAtEnd = Name == nameof(StampAtEnd);

    /// <summary>An operation that runs out of memory half-way leaves a transaction that can be committed.</summary>
    public static readonly bool CommitAfterNoMemory = Name == nameof(CommitAfterNoMemory);

    /// <summary>A commit that changes nothing is acknowledged although what it read may still be on its way to the journal.</summary>
    public static readonly bool AcknowledgeEmptyAtOnce = Name == nameof(AcknowledgeEmptyAtOnce);

    /// <summary>A merged operation for which its neighbours have left no room fails, as it does when it finds none alone.</summary>
    public static readonly bool FailWithNeighbours = Name == nameof(FailWithNeighbours);

    /// <summary>A batch of merged operations does not end when it has changed enough bytes.</summary>
    public static readonly bool MergeWithoutEnd = Name == nameof(MergeWithoutEnd);

    /// <summary>A commit that fails before it is submitted leaves its versions in the table.</summary>
    public static readonly bool KeepFailedVersions = Name == nameof(KeepFailedVersions);

    /// <summary>Puts whose streams are still being read are forgotten when their transaction is committed or rolled back.</summary>
    public static readonly bool ForgetPendingPuts = Name == nameof(ForgetPendingPuts);

    /// <summary>A transaction that finds no room fails, whatever a flush would make of it.</summary>
    public static readonly bool FailWithoutFlush = Name == nameof(FailWithoutFlush);

    /// <summary>Pages whose blocks were given back are used without blocks.</summary>
    public static readonly bool LeaveHoles = Name == nameof(LeaveHoles);

    /// <summary>The stream of a value goes on reading where the value was.</summary>
    public static readonly bool ReadChangedValues = Name == nameof(ReadChangedValues);

    /// <summary>A cursor shows the key of an entry that has been deleted.</summary>
    public static readonly bool ShowDeletedKey = Name == nameof(ShowDeletedKey);

    /// <summary>A commit keeps what nested transactions that are open have not committed.</summary>
    public static readonly bool KeepUncommittedNested = Name == nameof(KeepUncommittedNested);

    /// <summary>Handles of a merged operation stay of use in the operations after it.</summary>
    public static readonly bool LetHandlesEscape = Name == nameof(LetHandlesEscape);

    /// <summary>A cursor of a tree that has been deleted goes on as if the tree were empty.</summary>
    public static readonly bool MoveInDeletedTree = Name == nameof(MoveInDeletedTree);

    /// <summary>Puts that wait are forgotten when another tree gets the buffer.</summary>
    public static readonly bool ForgetWaitingPuts = Name == nameof(ForgetWaitingPuts);

    /// <summary>A tree is not kept as it was at a savepoint when another savepoint has kept it before.</summary>
    public static readonly bool KeepTreeOnce = Name == nameof(KeepTreeOnce);

    /// <summary>The end of a savepoint takes copies away that the savepoints around it need.</summary>
    public static readonly bool JoinNeededCopies = Name == nameof(JoinNeededCopies);

    /// <summary>Symbolic links in the place of files are followed.</summary>
    public static readonly bool FollowLinks = Name == nameof(FollowLinks);

    /// <summary>Names go on being changed after the locked file has been replaced.</summary>
    public static readonly bool ChangeForeignDirectory = Name == nameof(ChangeForeignDirectory);

    /// <summary>The header alone is locked.</summary>
    public static readonly bool LockHeaderAlone = Name == nameof(LockHeaderAlone);

    /// <summary>A number in the name of a file may have any number of zeros in front.</summary>
    public static readonly bool AcceptAnySpelling = Name == nameof(AcceptAnySpelling);

    /// <summary>A journal file that comes back under the name that it had while it was made is taken for unfinished.</summary>
    public static readonly bool ForgetUnnamedJournals = Name == nameof(ForgetUnnamedJournals);

    /// <summary>A data file beside an unfinished header is taken for unfinished too.</summary>
    public static readonly bool RemakeDataFile = Name == nameof(RemakeDataFile);

    /// <summary>What stands in the bytes of a page header that no checksum covers is not looked at.</summary>
    public static readonly bool BelieveSpareBytes = Name == nameof(BelieveSpareBytes);

    /// <summary>The scrubber holds the counts of a tree against its header although the tree has changed since it began.</summary>
    public static readonly bool CountOverSnapshots = Name == nameof(CountOverSnapshots);

    /// <summary>Closing does not wait for a journal write that is under way.</summary>
    public static readonly bool CloseBelowWrite = Name == nameof(CloseBelowWrite);

    /// <summary>The user's observer of commits is called by the thread that writes the journal, before it lets others write.</summary>
    public static readonly bool CallObserverBelowWrite = Name == nameof(CallObserverBelowWrite);

    /// <summary>Calls that use the files of an environment do not keep them from being closed.</summary>
    public static readonly bool CountNoCalls = Name == nameof(CountNoCalls);

    /// <summary>A reader may keep any number of journal files live, as long as their bytes are below the limit.</summary>
    public static readonly bool KeepManyJournals = Name == nameof(KeepManyJournals);

    /// <summary>A verification in the background waits an eighth of the time that its bytes are to take.</summary>
    public static readonly bool ScrubTooFast = Name == nameof(ScrubTooFast);

    /// <summary>Each opening vouches for the journal once more, in a file that it begins for that.</summary>
    public static readonly bool ConfirmAtEachOpening = Name == nameof(ConfirmAtEachOpening);

    /// <summary>An opening that has nothing to flush releases no journal files.</summary>
    public static readonly bool KeepFlushedJournals = Name == nameof(KeepFlushedJournals);

    /// <summary>A flush waits for the writer while it holds its lock.</summary>
    public static readonly bool DetachUnderLock = Name == nameof(DetachUnderLock);

    /// <summary>A step of the flusher's thread that fails, such as the growth ahead of need, ends the round: nothing is flushed then.</summary>
    public static readonly bool StopAtFailedGrowth = Name == nameof(StopAtFailedGrowth);

    /// <summary>A rewrite does not ask whether it fits, and writes pages until the disk is full.</summary>
    public static readonly bool SnapshotWhatFits = Name == nameof(SnapshotWhatFits);

    /// <summary>What has failed is tried again at once.</summary>
    public static readonly bool RetryAtOnce = Name == nameof(RetryAtOnce);

    /// <summary>All of a journal file is held against the limit of the journal, flushed or not.</summary>
    public static readonly bool CountWholeJournal = Name == nameof(CountWholeJournal);

    /// <summary>A journal file that is full stays open.</summary>
    public static readonly bool KeepJournalsOpen = Name == nameof(KeepJournalsOpen);

    /// <summary>Addresses are reserved for every page that the volume could hold, however few the process may have.</summary>
    public static readonly bool ReserveForVolume = Name == nameof(ReserveForVolume);

    /// <summary>Recovery keeps memory and a descriptor for each journal file.</summary>
    public static readonly bool KeepWindows = Name == nameof(KeepWindows);

    /// <summary>An opening that finds no memory passes on what the runtime throws.</summary>
    public static readonly bool PassMemoryErrors = Name == nameof(PassMemoryErrors);

    /// <summary>The background verification holds one snapshot from its beginning to its end.</summary>
    public static readonly bool ScrubInOneSlice = Name == nameof(ScrubInOneSlice);

    /// <summary>The verification keeps a number for each page, not a bit.</summary>
    public static readonly bool ListOwnedPages = Name == nameof(ListOwnedPages);

    /// <summary>Free space is given back with the writer held.</summary>
    public static readonly bool PunchUnderWriter = Name == nameof(PunchUnderWriter);

    /// <summary>The first transaction after an opening reads the map pages of all groups of sections.</summary>
    public static readonly bool LocateAllMaps = Name == nameof(LocateAllMaps);

    /// <summary>A flush does not look whether the data file still has its pages.</summary>
    public static readonly bool IgnoreCut = Name == nameof(IgnoreCut);

    /// <summary>A record that is decompressed writes one byte more than its block has.</summary>
    public static readonly bool WritePastBlock = Name == nameof(WritePastBlock);

    /// <summary>The block of a decompressed record is freed twice.</summary>
    public static readonly bool FreeTwice = Name == nameof(FreeTwice);

    /// <summary>The block of a decompressed record is read once more when it has been freed.</summary>
    public static readonly bool ReadFreedBlock = Name == nameof(ReadFreedBlock);

    /// <summary>The block that a page was read to for its image is not freed.</summary>
    public static readonly bool KeepBlock = Name == nameof(KeepBlock);

    /// <summary>A pooled record buffer is written to after it has been given back.</summary>
    public static readonly bool WriteToPooled = Name == nameof(WriteToPooled);

    /// <summary>What a flush has made free for values is not looked at again by the search for room.</summary>
    public static readonly bool ForgetFreedSpace = Name == nameof(ForgetFreedSpace);

    /// <summary>A caller that comes while the writer is free takes it, however long another one has waited.</summary>
    public static readonly bool BargeForEver = Name == nameof(BargeForEver);

    /// <summary>Tasks are completed by the thread pool alone.</summary>
    public static readonly bool CompleteOnPool = Name == nameof(CompleteOnPool);
}
