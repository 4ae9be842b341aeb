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

/// <summary>A tree or a table whose changes a feed records, or has recorded.</summary>
/// <param name="Name">The name that it had when the changes were made.</param>
/// <param name="IsTable">True for a table; false for a tree.</param>
public sealed record FeedSource(string Name, bool IsTable)
{
    /// <summary>Returns the kind and the name.</summary>
    public override string ToString() => IsTable ? $"table '{Name}'" : $"tree '{Name}'";
}

/// <summary>A consumer that stores its position in the environment, and holds back the deletion of changes that it has not seen.</summary>
/// <param name="Name">The name of the consumer.</param>
/// <param name="Position">The position after the last change that it has processed.</param>
public sealed record FeedConsumer(string Name, ChangePosition Position);
