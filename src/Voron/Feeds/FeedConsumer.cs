namespace Voron.Feeds;

/// <summary>A consumer that stores its position in the environment, and holds back the deletion of changes that it has not seen.</summary>
/// <param name="Name">The name of the consumer.</param>
/// <param name="Position">The position after the last change that it has processed.</param>
public sealed record FeedConsumer(string Name, ChangePosition Position);
