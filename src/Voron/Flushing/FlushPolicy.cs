namespace Voron.Flushing;

/// <summary>The changes since the last flush.</summary>
/// <param name="PageChanges">The pages that the transactions changed; one that two of them changed counts twice.</param>
/// <param name="DirtyPages">The pages that a flush would write.</param>
/// <param name="VersionBytes">The bytes of page versions.</param>
internal readonly record struct UnflushedChanges(long PageChanges, long DirtyPages, long VersionBytes);

/// <summary>Decides at how many bytes of journal a flush is worthwhile.</summary>
/// <remarks>
/// A flush writes each dirty page once, however often it has changed, so waiting saves writes where pages change again and again. Where they do
/// not, waiting saves nothing, and needs more journal files, whose blocks are written twice when they are new.
/// </remarks>
internal sealed class FlushPolicy
{
    /// <summary>The number of changes per page from which waiting saves writes.</summary>
    private const int ManyChanges = 3;

    private readonly long _versionLimit;

    /// <param name="options">The options of an open environment.</param>
    /// <param name="isVolatile">True for an environment in memory, where a flush only bounds the memory of the journal.</param>
    public FlushPolicy(StorageOptions options, bool isVolatile)
    {
        // No later than at the share of the limit where a blocking reader is named: a flush has to find that reader first.
        var most = options.JournalLimitBytes / SlowReaderWatch.PartOfLimit;
        var waits = options.FlushesByCost && !isVolatile && options.FlushThresholdBytes <= long.MaxValue / 2;
        Usual = options.FlushThresholdBytes;
        Least = Math.Min(most, Usual);
        Most = Math.Min(most, waits ? Usual + Usual / 2 : Usual);
        _versionLimit = options.ScratchMemoryBytes;
    }

    /// <summary>The fewest bytes of journal at which a flush begins.</summary>
    public long Least { get; }

    /// <summary>The threshold in the options.</summary>
    public long Usual { get; }

    /// <summary>The most bytes of journal at which a flush begins. They bound the time of a recovery.</summary>
    public long Most { get; }

    /// <summary>Returns the number of bytes of journal at which a flush begins.</summary>
    /// <remarks>Versions beyond the memory for them are written to a temporary file too, so waiting for more of them saves nothing.</remarks>
    public long Threshold(in UnflushedChanges changes) =>
        changes.DirtyPages > 0 && changes.PageChanges >= ManyChanges * changes.DirtyPages && changes.VersionBytes < _versionLimit ? Most : Least;

    /// <summary>Returns whether a record has brought the unflushed bytes to a number at which a flush may begin.</summary>
    /// <param name="before">The unflushed bytes before the record.</param>
    /// <param name="now">The unflushed bytes with the record.</param>
    public bool Reaches(long before, long now) => (before < Least && now >= Least) || (before < Most && now >= Most);
}
