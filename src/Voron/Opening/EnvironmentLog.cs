using Microsoft.Extensions.Logging;

namespace Voron.Opening;

/// <summary>The log messages about the opening and closing of an environment.</summary>
internal static partial class EnvironmentLog
{
    [LoggerMessage(
        EventId = 100, EventName = "Opened", Level = LogLevel.Information,
        Message = "Opened the environment in '{Path}' {Access} at transaction {TransactionId}, with pages of {PageSize} bytes, in {Milliseconds} ms. " +
            "Recovered {RecoveredTransactions} transactions from {ReplayedBytes} bytes of journal in {RecoveryMilliseconds} ms.")]
    public static partial void Opened(
        ILogger logger, string path, string access, long transactionId, int pageSize, long milliseconds, long recoveredTransactions,
        long replayedBytes, long recoveryMilliseconds);

    [LoggerMessage(
        EventId = 101, EventName = "Closed", Level = LogLevel.Information,
        Message = "Closed the environment in '{Path}' at transaction {TransactionId}, in {Milliseconds} ms. {OpenReaders} read transactions are still open.")]
    public static partial void Closed(ILogger logger, string path, long transactionId, long milliseconds, int openReaders);

    [LoggerMessage(
        EventId = 102, EventName = "WaitingForLock", Level = LogLevel.Information,
        Message = "The environment in '{Path}' is open elsewhere. The opening waits up to {Timeout} for it. Reason: {Reason}")]
    public static partial void WaitingForLock(ILogger logger, string path, TimeSpan timeout, string reason);

    [LoggerMessage(
        EventId = 103, EventName = "OpeningFlushFailed", Level = LogLevel.Warning,
        Message = "The environment in '{Path}' was opened and written {Openings} times without a flush in between, and this opening could not flush either. Each such opening adds a journal file. Reason: {Reason}")]
    public static partial void OpeningFlushFailed(ILogger logger, string path, int openings, string reason);

    [LoggerMessage(
        EventId = 110, EventName = "WriterAbandoned", Level = LogLevel.Error,
        Message = "The environment in '{Path}' was closed while write transaction {TransactionId} was open. The transaction can no longer be committed. The environment stays locked until the transaction is disposed.")]
    public static partial void WriterAbandoned(ILogger logger, string path, long transactionId);

    [LoggerMessage(
        EventId = 111, EventName = "ClosingFlushFailed", Level = LogLevel.Error,
        Message = "The environment in '{Path}' was closed without its last flush. Committed transactions are in the journal. Reason: {Reason}")]
    public static partial void CloseFailed(ILogger logger, string path, string reason, Exception exception);

    [LoggerMessage(
        EventId = 112, EventName = "ClosingStepFailed", Level = LogLevel.Error,
        Message = "A step of closing the environment in '{Path}' failed. The other steps still run. Reason: {Reason}")]
    public static partial void ClosingStepFailed(ILogger logger, string path, string reason, Exception exception);
}
