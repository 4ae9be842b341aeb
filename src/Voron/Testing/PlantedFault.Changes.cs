namespace Voron.Testing;

/// <content>The faults of the change log and of feeds.</content>
internal static partial class PlantedFault
{
    // The change log.

    /// <summary>Pages that a transaction writes directly are not noted as changed.</summary>
    public static readonly bool ForgetDirectWrites = Is(nameof(ForgetDirectWrites));

    /// <summary>Of an extent that a flush writes, only the first page is noted as changed.</summary>
    public static readonly bool ForgetInsideOfExtents = Is(nameof(ForgetInsideOfExtents));

    /// <summary>Pages that replayed transactions have written directly are not noted as changed.</summary>
    public static readonly bool ForgetReplayedWrites = Is(nameof(ForgetReplayedWrites));

    /// <summary>A journal snapshot replaces records that name directly written pages, and the change log does not receive these pages.</summary>
    public static readonly bool SnapshotWithoutDirectWrites = Is(nameof(SnapshotWithoutDirectWrites));

    /// <summary>A change log is used for changes since a state older than its first entry.</summary>
    public static readonly bool CoverGap = Is(nameof(CoverGap));

    /// <summary>Changes are looked up in the change log first, and among the page versions last.</summary>
    public static readonly bool LookAtLogFirst = Is(nameof(LookAtLogFirst));

    /// <summary>A file of change-log entries is accepted as the log even though it lacks the entry that the header names.</summary>
    public static readonly bool BelieveForeignLog = Is(nameof(BelieveForeignLog));

    // Feeds.

    /// <summary>Changes are recorded under the id of the next transaction.</summary>
    public static readonly bool RecordUnderNextId = Is(nameof(RecordUnderNextId));

    /// <summary>A feed is cut without regard to its consumers.</summary>
    public static readonly bool CutPastConsumer = Is(nameof(CutPastConsumer));

    /// <summary>A full batch of changes lacks its last change.</summary>
    public static readonly bool SkipLastOfBatch = Is(nameof(SkipLastOfBatch));

    /// <summary>A restored environment accepts all positions of the original environment, including those after the backup.</summary>
    public static readonly bool BelieveAllOfParent = Is(nameof(BelieveAllOfParent));

    /// <summary>The length of a key or a value in a change may exceed that of the change.</summary>
    public static readonly bool BelieveChangeLengths = Is(nameof(BelieveChangeLengths));
}
