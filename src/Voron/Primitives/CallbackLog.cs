using Microsoft.Extensions.Logging;

namespace Voron.Primitives;

/// <summary>The log messages about the user's own observers, listeners and loggers.</summary>
internal static partial class CallbackLog
{
    [LoggerMessage(EventId = 120, EventName = "ObserverFailed", Level = LogLevel.Warning, Message = "The observer of {Report} failed: {Reason}")]
    public static partial void ObserverFailed(ILogger logger, string report, string reason, Exception exception);

    [LoggerMessage(
        EventId = 121, EventName = "ReportsLost", Level = LogLevel.Warning,
        Message = "{Calls} reports were not delivered, because an observer or a listener did not return from an earlier one.")]
    public static partial void ReportsLost(ILogger logger, long calls);

    [LoggerMessage(
        EventId = 122, EventName = "LogEntriesLost", Level = LogLevel.Warning,
        Message = "The logger did not return from an earlier entry, so {Entries} entries were not logged.")]
    public static partial void LogEntriesLost(ILogger logger, long entries);
}
