using Microsoft.Extensions.Logging;

namespace Voron.Diagnostics;

/// <summary>The log messages about the status file.</summary>
internal static partial class StatusLog
{
    [LoggerMessage(
        EventId = 130, EventName = "StatusNotWritten", Level = LogLevel.Warning,
        Message = "The status file '{File}' of the environment in '{Path}' could not be written, so other processes do not see its figures. The " +
            "write is retried. Reason: {Reason}")]
    public static partial void NotWritten(ILogger logger, string file, string path, string reason);
}
