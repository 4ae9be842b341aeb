using Microsoft.Extensions.Logging;

namespace Voron.Journal;

/// <summary>The log messages of the journal.</summary>
internal static partial class JournalLog
{
    [LoggerMessage(Level = LogLevel.Debug, Message = "Created journal file {Name} with {LengthBytes} bytes.")]
    public static partial void FileMade(ILogger logger, string name, long lengthBytes);

    [LoggerMessage(
        Level = LogLevel.Information,
        Message = "The journal ends after transaction {TransactionId}. A tail of unfinished writes at offset {Offset} of '{Path}' was dropped: {Broken} broken and {Whole} intact record(s), from sequence {Sequence} on, with transactions {First} to {Last} according to their headers.")]
    public static partial void TailDropped(
        ILogger logger, long transactionId, long offset, string path, int broken, int whole, long sequence, long first, long last);

    [LoggerMessage(
        Level = LogLevel.Information,
        Message = "Recovered '{Path}': replayed {Records} record(s) with {Pages} page(s), up to transaction {TransactionId}, in {Milliseconds} ms.")]
    public static partial void Replayed(ILogger logger, string path, long records, long transactionId, long pages, long milliseconds);
}
