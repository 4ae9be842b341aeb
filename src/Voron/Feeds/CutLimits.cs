namespace Voron.Feeds;

/// <summary>How far a cut may go.</summary>
internal readonly record struct CutLimits
{
    /// <summary>Transactions before this time may go.</summary>
    public required long OldestTicks { get; init; }

    /// <summary>The number of bytes that may go, whatever their age.</summary>
    public required long ExcessBytes { get; init; }

    /// <summary>The number of bytes after which a step ends, with the transaction that it has reached.</summary>
    public required long MostBytes { get; init; }

    /// <summary>No later transaction may go.</summary>
    public required long NewestId { get; init; }

    /// <summary>The size of the feed in bytes.</summary>
    public required long FeedBytes { get; init; }

    /// <summary>A consumer holds back the changes behind its position, unless they have more bytes than this.</summary>
    public required long HoldLimitBytes { get; init; }

    /// <summary>The positions of the consumers that hold back changes, from the first on.</summary>
    public required ChangePosition[] Holds { get; init; }
}
