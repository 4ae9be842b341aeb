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

    /// <summary>No change behind this position may go; null if none is held back.</summary>
    public required ChangePosition? Hold { get; init; }
}
