using Microsoft.Extensions.Logging;

namespace Voron.Recovery;

/// <summary>The log messages of recovery.</summary>
internal static partial class RecoveryLog
{
    [LoggerMessage(
        EventId = 200, EventName = "JournalReplayed", Level = LogLevel.Information,
        Message = "Recovered '{Path}': replayed {Records} record(s) with {Pages} page(s), up to transaction {TransactionId}, in {Milliseconds} ms.")]
    public static partial void Replayed(ILogger logger, string path, long records, long transactionId, long pages, long milliseconds);

    [LoggerMessage(
        EventId = 201, EventName = "JournalTailDropped", Level = LogLevel.Information,
        Message = "The journal ends after transaction {TransactionId}. A tail of unfinished writes at offset {Offset} of '{Path}' was dropped: {Broken} broken and {Whole} intact record(s), from sequence {Sequence} on, with transactions {First} to {Last} according to their headers.")]
    public static partial void TailDropped(
        ILogger logger, long transactionId, long offset, string path, int broken, int whole, long sequence, long first, long last);
}
