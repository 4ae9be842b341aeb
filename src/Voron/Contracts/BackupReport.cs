namespace Voron;

/// <summary>Describes a backup that has been made, or a copy of an environment.</summary>
public sealed record BackupReport
{
    /// <summary>The id of the backup, by which later ones can build on it; empty for a copy of an environment.</summary>
    public Guid BackupId { get; init; }

    /// <summary>The backup that this one builds on; null for one with all pages.</summary>
    public Guid? ParentId { get; init; }

    /// <summary>
    /// True if later backups can build on this one, because the environment has recorded it durably. False if that was not requested, if the
    /// environment keeps no change log, or if a reader kept the flusher from reaching the backup's state.
    /// </summary>
    public bool IsBase { get; init; }

    /// <summary>The transaction whose state the backup has.</summary>
    public long TransactionId { get; init; }

    /// <summary>When that transaction was committed; null where that is not recorded, as in version 1 of the format.</summary>
    public DateTimeOffset? Time { get; init; }

    /// <summary>The number of pages that the state uses.</summary>
    public long Pages { get; init; }

    /// <summary>The number of bytes that were written.</summary>
    public long Bytes { get; init; }

    /// <summary>The number of repeated copies of pages that had been copied before.</summary>
    public long CopiedAgain { get; init; }

    /// <summary>The number of rounds that copied pages changed during the backup, including the last round.</summary>
    public int Rounds { get; init; }

    /// <summary>
    /// True if there was no change log, so the backup held one snapshot from beginning to end, and no newer state could be flushed meanwhile.
    /// </summary>
    public bool HeldOneSnapshot { get; init; }

    /// <summary>The longest time for which the backup held a snapshot, and so delayed a flush.</summary>
    public TimeSpan LongestHold { get; init; }

    /// <summary>The time that the backup took.</summary>
    public TimeSpan Duration { get; init; }
}

/// <summary>How far a backup has come.</summary>
/// <param name="PagesCopied">The number of pages that have been copied. A page that has changed and is copied again counts again.</param>
/// <param name="PagesExpected">The number of pages that will be copied if no more pages change.</param>
/// <param name="Bytes">The number of bytes that have been written.</param>
public readonly record struct BackupProgress(long PagesCopied, long PagesExpected, long Bytes);
