namespace Voron.Feeds;

/// <summary>The findings of the verification of a feed.</summary>
/// <param name="FeedName">The name of the feed.</param>
/// <param name="TransactionId">The newest transaction of the snapshot that was read.</param>
/// <param name="Changes">The number of changes read.</param>
/// <param name="Problems">One description for each problem, at most 1,000; empty if the feed is sound.</param>
public sealed record FeedVerificationReport(string FeedName, long TransactionId, long Changes, IReadOnlyList<string> Problems)
{
    /// <summary>True if no problem was found.</summary>
    public bool IsSound => Problems.Count == 0;
}
