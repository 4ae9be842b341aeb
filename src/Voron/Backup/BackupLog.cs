using Microsoft.Extensions.Logging;

namespace Voron.Backup;

/// <summary>The log messages of backups. A separate class, so that messages are prepared when the first one is logged.</summary>
internal static partial class BackupLog
{
    [LoggerMessage(
        EventId = 800, EventName = "BackupFinished", Level = LogLevel.Information,
        Message = "The environment in '{Path}' was backed up as of transaction {TransactionId}: {Pages} pages, {Bytes} bytes, in {Milliseconds} ms. No flush was held for longer than {HoldMilliseconds} ms.")]
    public static partial void Finished(
        ILogger logger, string path, long transactionId, long pages, long bytes, long milliseconds, long holdMilliseconds);

    [LoggerMessage(
        EventId = 801, EventName = "BackupFailed", Level = LogLevel.Warning,
        Message = "A backup of the environment in '{Path}' failed, and was not made. Reason: {Reason}")]
    public static partial void Failed(ILogger logger, string path, string reason, Exception exception);
}
