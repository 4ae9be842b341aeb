using Microsoft.Extensions.Logging;

namespace Voron.IO;

/// <summary>The log messages of this layer.</summary>
internal static partial class IoLog
{
    [LoggerMessage(
        EventId = 700, EventName = "NotUnbuffered", Level = LogLevel.Warning,
        Message = "'{Path}' has no unbuffered write-through ({Reason}). Journal writes go through the page cache, each followed by a sync. " +
            "They are as durable as the file system makes them, but slower.")]
    public static partial void NotUnbuffered(ILogger logger, string path, string reason);

    [LoggerMessage(
        EventId = 701, EventName = "DoubtfulFileSystem", Level = LogLevel.Warning,
        Message = "'{Path}' is on {Kind}, whose locks, maps and syncs are only as good as the program or the machines behind it. " +
            "The engine cannot check whether commits are durable there. Use a local ext4, XFS or btrfs to be sure.")]
    public static partial void DoubtfulFileSystem(ILogger logger, string path, string kind);

    [LoggerMessage(
        EventId = 702, EventName = "CopiesOnWrite", Level = LogLevel.Warning,
        Message = "'{Path}' is on {Kind}, which writes changed blocks elsewhere. A full disk may stop even changes that need no new space, " +
            "deletions too. Keep space in reserve, with a quota or a ballast file that can be deleted.")]
    public static partial void CopiesOnWrite(ILogger logger, string path, string kind);

    [LoggerMessage(
        EventId = 703, EventName = "WeakSync", Level = LogLevel.Warning,
        Message = "The file system of '{Path}' cannot empty the device's cache. Synced data may still be lost when the power fails.")]
    public static partial void WeakSync(ILogger logger, string path);
}
