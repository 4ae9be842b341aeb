using Microsoft.Extensions.Logging;

namespace Voron.Journal;

/// <summary>What the journal tells the log.</summary>
internal static partial class JournalLog
{
    [LoggerMessage(Level = LogLevel.Debug, Message = "Journal file {Name} of {LengthBytes} bytes made.")]
    public static partial void FileMade(ILogger logger, string name, long lengthBytes);

    [LoggerMessage(
        Level = LogLevel.Information,
        Message = "The journal ends in {Name} at {Offset} behind transaction {TransactionId}; {Dropped} record(s) of unfinished writes behind it were dropped.")]
    public static partial void TailDropped(ILogger logger, string name, long offset, long transactionId, int dropped);

    [LoggerMessage(
        Level = LogLevel.Information,
        Message = "Replayed {Records} record(s) up to transaction {TransactionId}: {Pages} page(s) in {Milliseconds} ms.")]
    public static partial void Replayed(ILogger logger, long records, long transactionId, long pages, long milliseconds);
}
