using Microsoft.Extensions.Logging;

namespace Voron.ChangeTracking;

/// <summary>The log messages about the change log.</summary>
internal static partial class ChangeLogMessages
{
    [LoggerMessage(
        EventId = 420, EventName = "ChangeLogEnded", Level = LogLevel.Warning,
        Message = "The change log of the environment in '{Path}' has ended, so the next backup has to be a full one: {Reason}")]
    public static partial void Ended(ILogger logger, string path, string reason);

    [LoggerMessage(
        EventId = 421, EventName = "ChangeLogStaysLarge", Level = LogLevel.Warning,
        Message = "The change log of the environment in '{Path}' could not be written anew in fewer bytes. It grows until that succeeds: {Reason}")]
    public static partial void StaysLarge(ILogger logger, string path, string reason);
}
