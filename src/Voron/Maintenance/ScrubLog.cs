using Microsoft.Extensions.Logging;

namespace Voron.Maintenance;

/// <summary>
/// The log messages of the background verification. A separate class, so that messages are prepared when the first one is logged.
/// </summary>
internal static partial class ScrubLog
{
    [LoggerMessage(Level = LogLevel.Error, Message = "Scrubbing up to transaction {TransactionId} found: {Problem}")]
    public static partial void Problem(ILogger logger, long transactionId, string problem);

    [LoggerMessage(Level = LogLevel.Warning, Message = "Scrubbing failed, and starts again after the interval: {Reason}")]
    public static partial void Failed(ILogger logger, string reason, Exception exception);
}
