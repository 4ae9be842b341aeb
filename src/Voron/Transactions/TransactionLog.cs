using System.Diagnostics;
using Microsoft.Extensions.Logging;

namespace Voron.Transactions;

/// <summary>The log messages about transactions that were never ended, and about operations that did more than they may.</summary>
internal static partial class TransactionLog
{
    [LoggerMessage(
        EventId = 500, EventName = "ReaderLeaked", Level = LogLevel.Warning,
        Message = "A read transaction of snapshot {SnapshotId} of the environment in '{Path}' was never disposed. It was begun at: {OpenedAt}")]
    public static partial void ReaderLeaked(ILogger logger, string path, long snapshotId, string openedAt);

    [LoggerMessage(
        EventId = 501, EventName = "WriterLeaked", Level = LogLevel.Warning,
        Message = "Write transaction {TransactionId} of the environment in '{Path}' was neither committed nor disposed. "
            + "It is being rolled back. It was begun at: {OpenedAt}")]
    public static partial void WriterLeaked(ILogger logger, string path, long transactionId, string openedAt);

    [LoggerMessage(
        EventId = 502, EventName = "OperationFailedLate", Level = LogLevel.Error,
        Message = "An operation of Write or WriteAsync on the environment in '{Path}' started asynchronous work, which failed after the operation had returned. "
            + "The work is not part of the operation. Reason: {Reason}")]
    public static partial void OperationFailedLate(ILogger logger, string path, string reason, Exception exception);

    [LoggerMessage(
        EventId = 503, EventName = "StageLeaked", Level = LogLevel.Warning,
        Message = "A staged value of the environment in '{Path}', or the upload of one, was neither put nor disposed. "
            + "The {Bytes} bytes that it had reserved are free again. Its upload was begun at: {StagedAt}")]
    public static partial void StageLeaked(ILogger logger, string path, long bytes, string stagedAt);

    [LoggerMessage(
        EventId = 504, EventName = "WriterHeldForLong", Level = LogLevel.Warning,
        Message = "Write transaction {TransactionId} of the environment in '{Path}' has been open for {Milliseconds} ms, and a caller waits for it to end. "
            + "Thread {ThreadId} began it at: {OpenedAt}. Commit or dispose it. A thread must not wait for a writer that it holds itself.")]
    public static partial void WriterHeldForLong(
        ILogger logger, string path, long transactionId, long milliseconds, int threadId, string openedAt);

    [LoggerMessage(
        EventId = 505, EventName = "ClockBehind", Level = LogLevel.Warning,
        Message = "The clock shows {Now:O}, but the last commit to the environment in '{Path}' was at {Last:O}. Until the clock has passed that time, "
            + "commits have the time of the last one. Check the clock of this machine")]
    public static partial void ClockBehind(ILogger logger, string path, DateTime now, DateTime last);

    /// <summary>Formats a stack trace for the log.</summary>
    public static string Describe(StackTrace? openedAt) => openedAt?.ToString() ?? $"unknown (set {nameof(StorageOptions.CaptureTransactionStacks)} to record it)";
}
