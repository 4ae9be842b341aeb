using Microsoft.Extensions.Logging;

namespace Voron.IO;

/// <summary>The messages of this layer.</summary>
internal static partial class IoLog
{
    [LoggerMessage(
        EventId = 100,
        Level = LogLevel.Warning,
        Message = "'{Path}' has no unbuffered write-through ({Reason}). Journal writes go through the page cache with a sync " +
            "each: as durable as the file system makes them, but slower.")]
    public static partial void NotUnbuffered(ILogger logger, string path, string reason);
}
