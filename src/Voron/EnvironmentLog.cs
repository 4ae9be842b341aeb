using System.Diagnostics;
using Microsoft.Extensions.Logging;

namespace Voron;

/// <summary>What an environment tells the log.</summary>
internal static partial class EnvironmentLog
{
    [LoggerMessage(Level = LogLevel.Warning, Message = "A read transaction of snapshot {SnapshotId} was never disposed. It was opened at: {OpenedAt}")]
    public static partial void ReaderLeaked(ILogger logger, long snapshotId, string openedAt);

    [LoggerMessage(
        Level = LogLevel.Warning,
        Message = "Write transaction {TransactionId} was neither committed nor disposed, and is rolled back. It was opened at: {OpenedAt}")]
    public static partial void WriterLeaked(ILogger logger, long transactionId, string openedAt);

    /// <summary>A stack for the log.</summary>
    public static string Describe(StackTrace? openedAt) => openedAt?.ToString() ?? $"unknown; set {nameof(StorageOptions.TrackReaders)} to know";

    [LoggerMessage(Level = LogLevel.Error, Message = "The environment in {Path} was closed without a last flush: {Reason}. What was committed is in the journal.")]
    public static partial void CloseFailed(ILogger logger, string path, string reason, Exception exception);

    [LoggerMessage(Level = LogLevel.Error, Message = "The environment in {Path} was closed while write transaction {TransactionId} was open; its memory and its lock are kept until the process ends.")]
    public static partial void WriterAbandoned(ILogger logger, string path, long transactionId);
}
