using System.Diagnostics;
using Microsoft.Extensions.Logging;

namespace Voron.Transactions;

/// <summary>The log messages about transactions that were never ended.</summary>
internal static partial class TransactionLog
{
    [LoggerMessage(Level = LogLevel.Warning, Message = "A read transaction of snapshot {SnapshotId} was never disposed. It was opened at: {OpenedAt}")]
    public static partial void ReaderLeaked(ILogger logger, long snapshotId, string openedAt);

    [LoggerMessage(
        Level = LogLevel.Warning,
        Message = "Write transaction {TransactionId} was neither committed nor disposed, and is rolled back. It was opened at: {OpenedAt}")]
    public static partial void WriterLeaked(ILogger logger, long transactionId, string openedAt);

    /// <summary>Formats a stack trace for the log.</summary>
    public static string Describe(StackTrace? openedAt) => openedAt?.ToString() ?? $"unknown; set {nameof(StorageOptions.CaptureTransactionStacks)} to know";
}
