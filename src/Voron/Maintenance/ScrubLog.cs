using Microsoft.Extensions.Logging;

namespace Voron.Maintenance;

/// <summary>
/// The log messages of the background verification. A separate class, so that messages are prepared when the first one is logged.
/// </summary>
internal static partial class ScrubLog
{
    [LoggerMessage(
        EventId = 600, EventName = "ScrubFinished", Level = LogLevel.Information,
        Message = "The scrubber has verified the environment in '{Path}', up to transaction {TransactionId}: {Problems} problems in {Bytes} bytes, in {Milliseconds} ms.")]
    public static partial void Finished(ILogger logger, string path, long transactionId, int problems, long bytes, long milliseconds);

    [LoggerMessage(
        EventId = 601, EventName = "ScrubProblem", Level = LogLevel.Error,
        Message = "The scrubber found a problem in the environment in '{Path}', up to transaction {TransactionId}: {Problem}")]
    public static partial void Problem(ILogger logger, string path, long transactionId, string problem);

    [LoggerMessage(
        EventId = 602, EventName = "ScrubFailed", Level = LogLevel.Warning,
        Message = "The scrubber of the environment in '{Path}' failed. It starts again after ScrubInterval. Reason: {Reason}")]
    public static partial void Failed(ILogger logger, string path, string reason, Exception exception);
}
