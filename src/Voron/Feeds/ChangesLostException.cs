namespace Voron.Feeds;

/// <summary>
/// A feed does not have all changes behind a position any more, or has never had them. The consumer copies the data again, and continues from the
/// position of the snapshot that it has copied.
/// </summary>
public sealed class ChangesLostException : VoronException
{
    internal ChangesLostException(string feed, ChangePosition position, ChangePosition oldest, string reason)
        : base(
            $"The feed '{feed}' does not have all changes behind position {position}: {reason} It has all of them behind {oldest}. " +
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

    /// <summary>The oldest position behind which the feed has all changes.</summary>
    public ChangePosition Oldest { get; }
}
