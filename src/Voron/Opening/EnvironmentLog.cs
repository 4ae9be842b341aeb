using Microsoft.Extensions.Logging;

namespace Voron.Opening;

/// <summary>The log messages of an environment.</summary>
internal static partial class EnvironmentLog
{
    [LoggerMessage(Level = LogLevel.Error, Message = "The environment in {Path} was closed without a last flush: {Reason}. What was committed is in the journal.")]
    public static partial void CloseFailed(ILogger logger, string path, string reason, Exception exception);

    [LoggerMessage(Level = LogLevel.Error, Message = "A step of closing the environment in {Path} failed, and the others were made all the same: {Reason}")]
    public static partial void ClosingStepFailed(ILogger logger, string path, string reason, Exception exception);

    [LoggerMessage(Level = LogLevel.Warning, Message = "The environment in {Path} was opened and written {Openings} times without a flush between, and this opening could not flush either: {Reason}. Each such opening adds a journal file.")]
    public static partial void OpeningFlushFailed(ILogger logger, string path, int openings, string reason);

    [LoggerMessage(Level = LogLevel.Error, Message = "The environment in {Path} was closed while write transaction {TransactionId} was open. It cannot be committed any more, and the environment stays locked until it is disposed.")]
    public static partial void WriterAbandoned(ILogger logger, string path, long transactionId);

    [LoggerMessage(Level = LogLevel.Warning, Message = "The environment in {Path} has pages of {Actual} bytes, and was opened with a PageSize of {Asked}: it keeps its own.")]
    public static partial void OtherPageSize(ILogger logger, string path, int actual, int asked);
}
