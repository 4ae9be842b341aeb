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
    public static readonly bool TrustChangedHeads = Name == nameof(TrustChangedHeads);

    /// <summary>Heads beside a page outlive the flush that changes the page.</summary>
    public static readonly bool KeepHeadsOverFlush = Name == nameof(KeepHeadsOverFlush);

    /// <summary>Who waits for the journal's leader is not woken when it has written.</summary>
    public static readonly bool ForgetToWake = Name == nameof(ForgetToWake);

    /// <summary>An operation that runs out of memory half-way leaves a transaction that can be committed.</summary>
    public static readonly bool CommitAfterNoMemory = Name == nameof(CommitAfterNoMemory);

    /// <summary>A commit that fails before it is submitted leaves its versions in the table.</summary>
    public static readonly bool KeepFailedVersions = Name == nameof(KeepFailedVersions);
}
