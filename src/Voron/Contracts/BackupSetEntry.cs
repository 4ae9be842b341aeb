namespace Voron;

/// <summary>A backup in a <see cref="BackupSet"/>.</summary>
public sealed record BackupSetEntry
{
    /// <summary>The path of the file.</summary>
    public required string File { get; init; }

    /// <summary>The description that the file contains; null if it cannot be read.</summary>
    public BackupInfo? Info { get; init; }

    /// <summary>A sentence that says why the backup cannot be restored; null if the beginnings and ends of the files show no reason.</summary>
    public string? Problem { get; init; }

    /// <summary>The files that a restore of this backup needs, the full one first; empty if it cannot be restored.</summary>
    public IReadOnlyList<string> Chain { get; init; } = [];
}

/// <summary>Which pages a backup contains.</summary>
public enum BackupKind
{
    /// <summary>The pages that have changed since the newest backup of the set that it can build on; all pages if there is none.</summary>
    Incremental = 0,

    /// <summary>All pages.</summary>
    Full,
}

/// <summary>Describes which backups of a <see cref="BackupSet"/> were deleted, or would be.</summary>
/// <param name="Deleted">The files, in the order in which they are deleted: the youngest of a chain first.</param>
/// <param name="Kept">The files that were kept, or would be.</param>
/// <param name="Bytes">The total size of the deleted files in bytes.</param>
/// <param name="IsDryRun">True if nothing was deleted.</param>
public sealed record PruneReport(IReadOnlyList<string> Deleted, IReadOnlyList<string> Kept, long Bytes, bool IsDryRun);
