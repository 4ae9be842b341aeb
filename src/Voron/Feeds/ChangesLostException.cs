namespace Voron.Feeds;

/// <summary>
/// A feed no longer contains all changes after a position, or never contained them. The consumer copies the data again, and continues from the
/// position of the copied snapshot.
/// </summary>
public sealed class ChangesLostException : VoronException
{
    internal ChangesLostException(string feed, ChangePosition position, ChangePosition oldest, string reason)
        : base(
            $"The feed '{feed}' does not contain all changes after position {position}: {reason} It contains all changes after {oldest}. " +
            "Copy the data again, and continue from the position of that snapshot.")
    {
        FeedName = feed;
        Position = position;
        Oldest = oldest;
    }

    /// <summary>The name of the feed.</summary>
    public string FeedName { get; }

    /// <summary>The position from which the consumer wanted to continue.</summary>
    public ChangePosition Position { get; }

    /// <summary>The oldest position after which the feed contains all changes.</summary>
    public ChangePosition Oldest { get; }
}
