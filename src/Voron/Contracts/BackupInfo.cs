namespace Voron;

/// <summary>Describes a backup: <see cref="BackupFile"/>.</summary>
public sealed record BackupInfo
{
    /// <summary>The id of the backup. A merged backup keeps the id of its newest source; otherwise no two backups share an id.</summary>
    public Guid BackupId { get; init; }

    /// <summary>The id of the backup that an incremental one builds on; null for a full one.</summary>
    public Guid? ParentId { get; init; }

    /// <summary>The id of the environment. A restored environment keeps it.</summary>
    public Guid EnvironmentId { get; init; }

    /// <summary>The id of the transaction whose state the backup contains.</summary>
    public long TransactionId { get; init; }

    /// <summary>The id of the transaction whose state the parent of an incremental backup contains; 0 for a full backup.</summary>
    public long ParentTransactionId { get; init; }

    /// <summary>The time at which <see cref="TransactionId"/> was committed; null if it is not recorded, as in format version 1.</summary>
    public DateTimeOffset? Time { get; init; }

    /// <summary>
    /// True if <see cref="Time"/> is later than the time at which the backup was finished: a clock was wrong at one of the commits. Since commit
    /// times never decrease, all later commits have that time, too. The backup then counts as made when it was finished.
    /// </summary>
    public bool IsTimeWrong => Time > FinishedAt;

    /// <summary>The time at which the backup began.</summary>
    public DateTimeOffset BeganAt { get; init; }

    /// <summary>The time at which the backup was finished.</summary>
    public DateTimeOffset FinishedAt { get; init; }

    /// <summary>The page size of the environment in bytes.</summary>
    public int PageSize { get; init; }

    /// <summary>The format version of the environment.</summary>
    public int FormatVersion { get; init; }

    /// <summary>The number of pages in use in the environment. This many pages are restored.</summary>
    public long Pages { get; init; }

    /// <summary>The number of page copies in the backup. A page that changed while the backup was being made may have several.</summary>
    public long CopiedPages { get; init; }

    /// <summary>The length of the backup in bytes.</summary>
    public long Bytes { get; init; }

    /// <summary>True if incremental backups can build on this one, unless the environment has been replaced since.</summary>
    public bool IsBase { get; init; }

    /// <summary>The text that was stored with the backup; null if there is none.</summary>
    public string? Note { get; init; }

    /// <summary>The history (lineage) of the environment; empty in version 1 of the format.</summary>
    internal Guid LineageId { get; init; }

    /// <summary>The lineage from which this one has forked; empty for none.</summary>
    internal Guid ParentLineageId { get; init; }

    /// <summary>True if the backup contains all pages, so it can be restored alone.</summary>
    public bool IsFull => ParentId == null;
}
