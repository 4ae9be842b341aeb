namespace Voron;

/// <summary>Describes a finished backup, or a finished copy of an environment.</summary>
public sealed record BackupReport
{
    /// <summary>The id of the backup, for <see cref="BackupOptions.Since"/> of later backups; empty for a copy of an environment.</summary>
    public Guid BackupId { get; init; }

    /// <summary>The id of the backup that this one builds on; null for a full backup.</summary>
    public Guid? ParentId { get; init; }

    /// <summary>
    /// True if later backups can build on this one, because the environment has recorded it durably. False if that was not requested, if the
    /// environment keeps no change log, or if a reader kept the flusher from reaching the backup's state.
    /// </summary>
    public bool IsBase { get; init; }

    /// <summary>The id of the transaction whose state the backup contains.</summary>
    public long TransactionId { get; init; }

    /// <summary>The time at which that transaction was committed; null if it is not recorded, as in version 1 of the format.</summary>
    public DateTimeOffset? Time { get; init; }

    /// <summary>The number of pages in use in that state.</summary>
    public long Pages { get; init; }

    /// <summary>The number of bytes written.</summary>
    public long Bytes { get; init; }

    /// <summary>The number of additional copies of pages that had already been copied.</summary>
    public long CopiedAgain { get; init; }

    /// <summary>The number of rounds that copied pages changed during the backup, including the last round.</summary>
    public int Rounds { get; init; }

    /// <summary>
    /// True if there was no change log, so the backup held one snapshot from beginning to end, and no newer state could be flushed meanwhile.
    /// </summary>
    public bool HeldOneSnapshot { get; init; }

    /// <summary>The longest time for which the backup held a snapshot, and therefore delayed a flush.</summary>
    public TimeSpan LongestHold { get; init; }

    /// <summary>The duration of the backup.</summary>
    public TimeSpan Duration { get; init; }
}

/// <summary>The progress of a backup.</summary>
/// <param name="PagesCopied">The number of pages copied. A page copied again because it has changed counts again.</param>
/// <param name="PagesExpected">The number of pages that will be copied if no more pages change.</param>
/// <param name="Bytes">The number of bytes written.</param>
public readonly record struct BackupProgress(long PagesCopied, long PagesExpected, long Bytes);
