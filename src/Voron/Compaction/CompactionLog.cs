using Microsoft.Extensions.Logging;

namespace Voron.Compaction;

/// <summary>The log messages of compactions. A separate class, so that messages are prepared when the first one is logged.</summary>
internal static partial class CompactionLog
{
    [LoggerMessage(
        EventId = 900, EventName = "CompactionFinished", Level = LogLevel.Information,
        Message = "The environment in '{Path}' was compacted from {BytesBefore} to {BytesAfter} bytes: {BytesMoved} bytes were moved in {Milliseconds} ms. The writer was held for {HoldMilliseconds} ms at most.")]
    public static partial void Finished(
        ILogger logger, string path, long bytesBefore, long bytesAfter, long bytesMoved, long milliseconds, double holdMilliseconds);

    [LoggerMessage(
        EventId = 901, EventName = "CompactionBlocked", Level = LogLevel.Warning,
        Message = "A compaction of the environment in '{Path}' ended early: a reader of transaction {TransactionId}, open for {Age} on thread {ThreadId}, keeps the data file at {Bytes} bytes. It was opened at: {OpenedAt}")]
    public static partial void Blocked(
        ILogger logger, string path, long transactionId, TimeSpan age, int threadId, long bytes, string openedAt);

    [LoggerMessage(
        EventId = 902, EventName = "CompactionFailed", Level = LogLevel.Warning,
        Message = "A compaction of the environment in '{Path}' failed. Pages already moved stay moved, and nothing is lost. Reason: {Reason}")]
    public static partial void Failed(ILogger logger, string path, string reason, Exception exception);
}
