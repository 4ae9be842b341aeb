using Microsoft.Extensions.Logging;

namespace Voron.Dropping;

/// <summary>The log messages of dropped trees. A separate class, so that messages are prepared when the first one is logged.</summary>
internal static partial class DroppingLog
{
    [LoggerMessage(
        EventId = 1000, EventName = "DroppedTreesFreed", Level = LogLevel.Information,
        Message = "The pages of dropped trees in the environment in '{Path}' are free: {Pages} pages in {Milliseconds} ms.")]
    public static partial void Freed(ILogger logger, string path, long pages, long milliseconds);

    [LoggerMessage(
        EventId = 1001, EventName = "DroppingFailed", Level = LogLevel.Warning,
        Message = "The pages of a dropped tree in the environment in '{Path}' could not all be freed. Nothing is lost: the next drop or opening continues. Reason: {Reason}")]
    public static partial void Failed(ILogger logger, string path, string reason, Exception exception);
}
