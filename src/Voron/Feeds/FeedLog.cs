using Microsoft.Extensions.Logging;

namespace Voron.Feeds;

/// <summary>The log messages of change feeds. A separate class, so that messages are prepared when the first one is logged.</summary>
internal static partial class FeedLog
{
    [LoggerMessage(
        EventId = 1100, EventName = "FeedsTrimmed", Level = LogLevel.Information,
        Message = "Old changes were deleted from the feeds of the environment in '{Path}': {Changes} changes.")]
    public static partial void Trimmed(ILogger logger, string path, long changes);

    [LoggerMessage(
        EventId = 1101, EventName = "FeedTrimFailed", Level = LogLevel.Warning,
        Message = "Old changes could not be deleted from the feeds of the environment in '{Path}'. Nothing is lost: the next run tries again. Reason: {Reason}")]
    public static partial void TrimFailed(ILogger logger, string path, string reason, Exception exception);

    [LoggerMessage(
        EventId = 1102, EventName = "FeedCutPastConsumer", Level = LogLevel.Warning,
        Message = "The feed '{Feed}' of the environment in '{Path}' has grown above its limit, and changes were deleted that the consumer '{Consumer}' at {Position} " +
            "has not seen: all up to {Cut}. The consumer has to copy the data again.")]
    public static partial void CutPastConsumer(ILogger logger, string path, string feed, string consumer, string position, string cut);
}
