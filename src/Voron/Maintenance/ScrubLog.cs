using Microsoft.Extensions.Logging;

namespace Voron.Maintenance;

/// <summary>
/// The log messages of the background verification. A separate class, so that messages are prepared when the first one is logged.
/// </summary>
internal static partial class ScrubLog
{
    [LoggerMessage(Level = LogLevel.Error, Message = "The scrubber found a problem in the environment in {Path}, up to transaction {TransactionId}: {Problem}")]
    public static partial void Problem(ILogger logger, string path, long transactionId, string problem);

    [LoggerMessage(Level = LogLevel.Warning, Message = "The scrubber of the environment in {Path} failed. It starts again after ScrubInterval. Reason: {Reason}")]
    public static partial void Failed(ILogger logger, string path, string reason, Exception exception);
}
