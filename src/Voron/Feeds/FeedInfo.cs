namespace Voron.Feeds;

/// <summary>A feed as a transaction sees it.</summary>
public sealed record FeedInfo
{
    /// <summary>The name of the feed.</summary>
    public required string Name { get; init; }

    /// <summary>The options with which it was created, or changed last.</summary>
    public required FeedOptions Options { get; init; }

    /// <summary>The number of changes that it contains.</summary>
    public required long Changes { get; init; }

    /// <summary>The size in bytes, measured in pages.</summary>
    public required long Bytes { get; init; }

    /// <summary>The oldest position after which it contains all changes.</summary>
    public required ChangePosition Oldest { get; init; }

    /// <summary>The position after its last change.</summary>
    public required ChangePosition Newest { get; init; }

    /// <summary>The trees and tables whose changes it records.</summary>
    public required IReadOnlyList<FeedSource> Sources { get; init; }

    /// <summary>The named consumers, with their positions.</summary>
    public required IReadOnlyList<FeedConsumer> Consumers { get; init; }
}
