using System.Diagnostics;
using Microsoft.Extensions.Logging;

namespace Voron.Transactions;

/// <summary>The log messages about transactions that were never ended.</summary>
internal static partial class TransactionLog
{
    [LoggerMessage(Level = LogLevel.Warning, Message = "A read transaction of snapshot {SnapshotId} of the environment in {Path} was never disposed. It was begun at: {OpenedAt}")]
    public static partial void ReaderLeaked(ILogger logger, string path, long snapshotId, string openedAt);

    [LoggerMessage(
        Level = LogLevel.Warning,
        Message = "Write transaction {TransactionId} of the environment in {Path} was neither committed nor disposed. "
            + "It is being rolled back. It was begun at: {OpenedAt}")]
    public static partial void WriterLeaked(ILogger logger, string path, long transactionId, string openedAt);

    /// <summary>Formats a stack trace for the log.</summary>
    public static string Describe(StackTrace? openedAt) => openedAt?.ToString() ?? $"unknown (set {nameof(StorageOptions.CaptureTransactionStacks)} to record it)";
}
