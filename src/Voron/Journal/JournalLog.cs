using Microsoft.Extensions.Logging;

namespace Voron.Journal;

/// <summary>The log messages of the journal.</summary>
internal static partial class JournalLog
{
    [LoggerMessage(
        EventId = 300, EventName = "JournalFileCreated", Level = LogLevel.Debug,
        Message = "Created journal file {Name} with {LengthBytes} bytes.")]
    public static partial void FileMade(ILogger logger, string name, long lengthBytes);
}
