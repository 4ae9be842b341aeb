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
