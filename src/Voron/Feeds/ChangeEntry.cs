namespace Voron.Feeds;

/// <summary>A change in the buffer of a batch.</summary>
internal readonly record struct ChangeEntry
{
    public required long TransactionId { get; init; }

    public required uint Ordinal { get; init; }

    public required ChangeOperation Operation { get; init; }

    public required byte Flags { get; init; }

    /// <summary>The time of the transaction; 0 if unknown.</summary>
    public required long Time { get; init; }

    public required FeedSource Source { get; init; }

    public required Place Key { get; init; }

    public required Place Old { get; init; }

    public required Place New { get; init; }

    /// <summary>A part of the buffer.</summary>
    public readonly record struct Place(int Start, int Length);
}
