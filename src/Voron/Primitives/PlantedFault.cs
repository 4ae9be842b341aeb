namespace Voron.Primitives;

/// <summary>
/// Deliberate faults, by which the tests show that they would notice. Each is off, and folded away by the compiler, unless the
/// process sets the name as application data under "Voron.PlantedFault" before it uses the engine.
/// </summary>
internal static class PlantedFault
{
    private static readonly string? Name = AppContext.GetData("Voron.PlantedFault") as string;

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

    /// <summary>The checksum of a page is not looked at.</summary>
    public static readonly bool BelievePages = Name == nameof(BelievePages);

    /// <summary>The checksum of a journal record is not looked at.</summary>
    public static readonly bool BelieveRecords = Name == nameof(BelieveRecords);

    /// <summary>The checksum of a slot of the header file is not looked at.</summary>
    public static readonly bool BelieveHeaders = Name == nameof(BelieveHeaders);

    /// <summary>The checksums of large values are not looked at.</summary>
    public static readonly bool BelieveChunks = Name == nameof(BelieveChunks);

    /// <summary>Two copies of a journal file's header that differ are always taken for a life that has not begun.</summary>
    public static readonly bool BelieveJournalHeaders = Name == nameof(BelieveJournalHeaders);

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
    public static readonly bool KeepRunOfDeleted = Name == nameof(KeepRunOfDeleted);

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
}
