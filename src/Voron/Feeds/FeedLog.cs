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
        Message = "The consumer '{Consumer}' of feed '{Feed}' in '{Path}' is at {Position}, more than HoldLimitBytes behind, and changes that it has not seen were " +
            "deleted: all up to {Cut}. It has to copy the data again.")]
    public static partial void CutPastConsumer(ILogger logger, string consumer, string feed, string path, string position, string cut);
}
