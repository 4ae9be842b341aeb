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
}
