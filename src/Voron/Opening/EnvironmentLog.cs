using Microsoft.Extensions.Logging;

namespace Voron.Opening;

/// <summary>The log messages of an environment.</summary>
internal static partial class EnvironmentLog
{
    [LoggerMessage(Level = LogLevel.Error, Message = "The environment in {Path} was closed without its last flush. Committed transactions are in the journal. Reason: {Reason}")]
    public static partial void CloseFailed(ILogger logger, string path, string reason, Exception exception);

    [LoggerMessage(Level = LogLevel.Error, Message = "A step of closing the environment in {Path} failed. The other steps still run. Reason: {Reason}")]
    public static partial void ClosingStepFailed(ILogger logger, string path, string reason, Exception exception);

    [LoggerMessage(Level = LogLevel.Warning, Message = "The environment in {Path} was opened and written {Openings} times without a flush in between, and this opening could not flush either. Each such opening adds a journal file. Reason: {Reason}")]
    public static partial void OpeningFlushFailed(ILogger logger, string path, int openings, string reason);

    [LoggerMessage(Level = LogLevel.Error, Message = "The environment in {Path} was closed while write transaction {TransactionId} was open. The transaction can no longer be committed. The environment stays locked until the transaction is disposed.")]
    public static partial void WriterAbandoned(ILogger logger, string path, long transactionId);

    [LoggerMessage(Level = LogLevel.Warning, Message = "The environment in {Path} has pages of {Actual} bytes, but was opened with a PageSize of {Asked}. It keeps its own page size.")]
    public static partial void OtherPageSize(ILogger logger, string path, int actual, int asked);
}
