using Microsoft.Extensions.Logging;

namespace Voron.Journal;

/// <summary>The log messages of the journal.</summary>
internal static partial class JournalLog
{
    [LoggerMessage(Level = LogLevel.Debug, Message = "Created journal file {Name} with {LengthBytes} bytes.")]
    public static partial void FileMade(ILogger logger, string name, long lengthBytes);

    [LoggerMessage(
        Level = LogLevel.Information,
        Message = "The journal ends after transaction {TransactionId}. A tail of unfinished writes at offset {Offset} of {Name} was dropped: {Broken} broken and {Whole} intact record(s), from sequence {Sequence} on, with transactions {First} to {Last} according to their headers.")]
    public static partial void TailDropped(
        ILogger logger, long transactionId, long offset, string name, int broken, int whole, long sequence, long first, long last);

    [LoggerMessage(
        Level = LogLevel.Information,
        Message = "Replayed {Records} record(s) up to transaction {TransactionId}: {Pages} page(s) in {Milliseconds} ms.")]
    public static partial void Replayed(ILogger logger, long records, long transactionId, long pages, long milliseconds);
}
