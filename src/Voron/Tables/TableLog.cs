using Microsoft.Extensions.Logging;

namespace Voron.Tables;

/// <summary>The log messages of tables. A separate class, so that messages are prepared when the first one is logged.</summary>
internal static partial class TableLog
{
    [LoggerMessage(
        EventId = 1300, EventName = "ExpiredRowsDeleted", Level = LogLevel.Information,
        Message = "Expired rows were deleted from the table '{Table}' of the environment in '{Path}': {Rows} rows.")]
    public static partial void ExpiredDeleted(ILogger logger, string table, string path, long rows);

    [LoggerMessage(
        EventId = 1301, EventName = "ExpiryFailed", Level = LogLevel.Warning,
        Message = "Not all expired rows could be deleted from the table '{Table}' of the environment in '{Path}'. No query returns them, and the next run " +
            "tries again. Reason: {Reason}")]
    public static partial void ExpiryFailed(ILogger logger, string table, string path, string reason, Exception exception);

    [LoggerMessage(
        EventId = 1302, EventName = "FormerMemberLeft", Level = LogLevel.Warning,
        Message = "Row ids that a table left in shared index number {Index} of the environment in '{Path}' could not be removed. No query returns " +
            "them, and the next evolution or drop of a table tries again. Reason: {Reason}")]
    public static partial void FormerMemberLeft(ILogger logger, int index, string path, string reason, Exception exception);
}
