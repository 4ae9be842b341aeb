using Microsoft.Extensions.Logging;

namespace Voron.Flushing;

/// <summary>The log messages of the flusher.</summary>
internal static partial class FlushLog
{
    [LoggerMessage(
        Level = LogLevel.Warning,
        Message = "The read transaction of snapshot {SnapshotId}, open for {Age}, keeps {JournalBytes} bytes of journal and {ScratchBytes} bytes of scratch memory: half a limit is reached. Thread {ThreadId} opened it at: {OpenedAt}")]
    public static partial void SlowReader(
        ILogger logger, long snapshotId, TimeSpan age, long journalBytes, long scratchBytes, int threadId, string openedAt);

    [LoggerMessage(Level = LogLevel.Warning, Message = "A background flush failed: {Reason}")]
    public static partial void Failed(ILogger logger, string reason, Exception exception);

    [LoggerMessage(
        Level = LogLevel.Warning,
        Message = "Unflushed pages could not be rewritten to make the journal shorter, so writers are slowed until an old reader ends: {Reason}")]
    public static partial void NoJournalSnapshot(ILogger logger, string reason);

    [LoggerMessage(
        Level = LogLevel.Warning,
        Message = "A transaction found no room, and the flush that was to make some found none either; it is tried again later: {Reason}")]
    public static partial void NoRoom(ILogger logger, string reason);

    [LoggerMessage(Level = LogLevel.Error, Message = "The environment in '{Path}' takes no more writes, and nothing is flushed any more, since one failed: {Reason}")]
    public static partial void Ended(ILogger logger, string path, string reason, Exception exception);

    [LoggerMessage(Level = LogLevel.Warning, Message = "Free space could not be given back to the file system: {Reason}")]
    public static partial void NothingReclaimed(ILogger logger, string reason);

    [LoggerMessage(Level = LogLevel.Warning, Message = "The journal's last records could not be vouched for: {Reason}")]
    public static partial void NoDurabilityMarker(ILogger logger, string reason);

    [LoggerMessage(Level = LogLevel.Warning, Message = "The data file could not be grown ahead; flushing goes on: {Reason}")]
    public static partial void NoGrowth(ILogger logger, string reason);

    [LoggerMessage(Level = LogLevel.Warning, Message = "The next journal file could not be prepared ahead: {Reason}")]
    public static partial void NoSpare(ILogger logger, string reason);
}
