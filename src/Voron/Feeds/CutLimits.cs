namespace Voron.Feeds;

/// <summary>How far a cut may go.</summary>
internal readonly record struct CutLimits
{
    /// <summary>Transactions before this time may be deleted.</summary>
    public required long OldestTicks { get; init; }

    /// <summary>The number of bytes that may be deleted, regardless of their age.</summary>
    public required long ExcessBytes { get; init; }

    /// <summary>The number of bytes after which a step ends, at the end of its current transaction.</summary>
    public required long MostBytes { get; init; }

    /// <summary>No later transaction may be deleted.</summary>
    public required long NewestId { get; init; }

    /// <summary>The size of the feed in bytes.</summary>
    public required long FeedBytes { get; init; }

    /// <summary>A consumer holds back the changes after its position, unless they exceed this number of bytes.</summary>
    public required long HoldLimitBytes { get; init; }

    /// <summary>The positions of the consumers that hold back changes, in ascending order.</summary>
    public required ChangePosition[] Holds { get; init; }
}
