using Microsoft.Extensions.Logging;
using Voron.Format;

namespace Voron.Flushing;

/// <summary>The log messages of the flusher.</summary>
internal static partial class FlushLog
{
    [LoggerMessage(
        EventId = 400, EventName = "Flushed", Level = LogLevel.Debug,
        Message = "Flushed the environment in '{Path}' up to transaction {TransactionId}: {Pages} pages with {Bytes} bytes of {Transactions} transactions, in {Milliseconds} ms.")]
    public static partial void Flushed(
        ILogger logger, string path, long transactionId, int pages, long bytes, long transactions, long milliseconds);

    [LoggerMessage(
        EventId = 401, EventName = "FlushFailed", Level = LogLevel.Warning,
        Message = "A background flush of the environment in '{Path}' failed, and will be tried again: {Reason}")]
    public static partial void Failed(ILogger logger, string path, string reason, Exception exception);

    [LoggerMessage(
        EventId = 402, EventName = "FlushingEnded", Level = LogLevel.Error,
        Message = "The environment in '{Path}' refuses all writes and flushes nothing more, because a write failed. Close it and open it again: {Reason}")]
    public static partial void Ended(ILogger logger, string path, string reason, Exception exception);

    [LoggerMessage(
        EventId = 403, EventName = "SlowReader", Level = LogLevel.Warning,
        Message = "The environment in '{Path}' has reached half a limit: the read transaction of snapshot {SnapshotId}, open for {Age}, keeps {JournalBytes} bytes of journal and {ScratchBytes} bytes of scratch memory. End it soon, or writers will be slowed. Thread {ThreadId} opened it at: {OpenedAt}")]
    public static partial void SlowReader(
        ILogger logger, string path, long snapshotId, TimeSpan age, long journalBytes, long scratchBytes, int threadId, string openedAt);

    [LoggerMessage(
        EventId = 404, EventName = "WritersSlowed", Level = LogLevel.Warning,
        Message = "Writers of the environment in '{Path}' are slowed until the flusher has caught up: {JournalBytes} of at most {JournalLimitBytes} bytes of journal, and {ScratchBytes} of at most {ScratchLimitBytes} bytes of page versions, are in use.")]
    public static partial void WritersSlowed(
        ILogger logger, string path, long journalBytes, long journalLimitBytes, long scratchBytes, long scratchLimitBytes);

    [LoggerMessage(
        EventId = 405, EventName = "NoRoom", Level = LogLevel.Warning,
        Message = "A transaction in '{Path}' found no space, and a flush to free space found none either. The flusher tries again later: {Reason}")]
    public static partial void NoRoom(ILogger logger, string path, string reason);

    [LoggerMessage(
        EventId = 406, EventName = "FormatChanged", Level = LogLevel.Information,
        Message = "The environment in '{Path}' has format version {Version} with the features {Features} from now on. Programs that do not know them cannot open it.")]
    public static partial void FormatChanged(ILogger logger, string path, uint version, FormatFeatures features);

    [LoggerMessage(
        EventId = 410, EventName = "NoJournalSnapshot", Level = LogLevel.Warning,
        Message = "The flusher could not write a journal snapshot in '{Path}' to shorten the journal. Writers are slowed until an old read transaction ends: {Reason}")]
    public static partial void NoJournalSnapshot(ILogger logger, string path, string reason);

    [LoggerMessage(
        EventId = 411, EventName = "NoDurabilityMarker", Level = LogLevel.Warning,
        Message = "The journal in '{Path}' could not record that its last commits are durable. They are, but recovery could not tell if they decayed on disk: {Reason}")]
    public static partial void NoDurabilityMarker(ILogger logger, string path, string reason);

    [LoggerMessage(
        EventId = 412, EventName = "NoJournalFileAhead", Level = LogLevel.Warning,
        Message = "The next journal file in '{Path}' could not be prepared ahead of need: {Reason}")]
    public static partial void NoSpare(ILogger logger, string path, string reason);

    [LoggerMessage(
        EventId = 413, EventName = "NoGrowthAhead", Level = LogLevel.Warning,
        Message = "The data file in '{Path}' could not be grown ahead of need. Flushing continues: {Reason}")]
    public static partial void NoGrowth(ILogger logger, string path, string reason);

    [LoggerMessage(
        EventId = 414, EventName = "NoSpaceReclaimed", Level = LogLevel.Warning,
        Message = "Free space of '{Path}' could not be returned to the file system: {Reason}")]
    public static partial void NothingReclaimed(ILogger logger, string path, string reason);

    [LoggerMessage(
        EventId = 415, EventName = "JournalStaysLarge", Level = LogLevel.Warning,
        Message = "The environment in '{Path}' was closed, but its journal keeps the size of its last file, because no small file could be made: {Reason}")]
    public static partial void JournalStaysLarge(ILogger logger, string path, string reason);
}
