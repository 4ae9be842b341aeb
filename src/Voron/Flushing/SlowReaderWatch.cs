using Voron.Snapshots;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Names the reader that holds on to journal or scratch memory, before the limits are reached.</summary>
/// <remarks>
/// The scheduler makes the checks; the user's observer is called on the thread pool.
/// </remarks>
internal sealed class SlowReaderWatch
{
    /// <summary>Beyond this part of the journal or scratch limit (one half), the oldest reader is named.</summary>
    public const int PartOfLimit = 2;

    private readonly Engine _engine;
    private readonly List<ActiveReader> _readers = [];
    private (int Slot, long Use) _reported = (-1, 0);
    private long _reportedAtTick;

    public SlowReaderWatch(Engine engine) => _engine = engine;

    /// <summary>True when it is time to check for a blocking reader.</summary>
    public bool IsNearLimit =>
        _engine.JournalFiles!.LiveRecordBytes >= _engine.Options.JournalLimitBytes / PartOfLimit
        || _engine.VersionBytes >= _engine.Options.ScratchLimitBytes / PartOfLimit;

    /// <summary>Names the oldest reader if a flush cannot get past it; each reader once per interval.</summary>
    /// <param name="checkpointId">The last flushed transaction: a reader of a newer state is not in the way yet.</param>
    public void Check(long checkpointId)
    {
        if (!IsNearLimit)
            return;
        var oldest = FindOldest(_engine, _readers);
        if (oldest is not { } slow || slow.Snapshot > checkpointId || slow.Snapshot >= _engine.Ring.PublishedId)
            return;
        if (_engine.Readers.Describe(slow) is not { } origin)
            return;
        var now = Environment.TickCount64;
        if (_reported == (slow.Slot, origin.Use) && now - _reportedAtTick < _engine.Options.SlowReaderInterval.TotalMilliseconds)
            return;
        _reported = (slow.Slot, origin.Use);
        _reportedAtTick = now;
        Report(Describe(_engine, slow, origin));
    }

    /// <summary>Describes the oldest reader, if its snapshot is older than a transaction; otherwise null.</summary>
    public static SlowReaderReport? DescribeOldest(Engine engine, long transactionId) =>
        FindOldest(engine, []) is { } oldest && oldest.Snapshot < transactionId && engine.Readers.Describe(oldest) is { } origin
            ? Describe(engine, oldest, origin)
            : null;

    private static ActiveReader? FindOldest(Engine engine, List<ActiveReader> readers)
    {
        engine.Readers.Collect(readers, engine.FlusherSlot);
        ActiveReader? oldest = null;
        foreach (var reader in readers)
        {
            if (reader.Slot != engine.FlusherSlot && (oldest == null || reader.Snapshot < oldest.Value.Snapshot))
                oldest = reader;
        }

        return oldest;
    }

    private static SlowReaderReport Describe(Engine engine, in ActiveReader reader, ReaderOrigin origin) => new(
        reader.Snapshot, engine.JournalFiles!.LiveRecordBytes, engine.VersionBytes, origin.OpenedAt?.ToString(), origin.Age, origin.ThreadId);

    private void Report(SlowReaderReport report)
    {
        FlushLog.SlowReader(
            _engine.Logger, _engine.Disk.Path, report.TransactionId, report.Age, report.JournalBytes, report.ScratchBytes, report.ThreadId,
            report.OpenedAt ?? "unknown");
        _engine.Observers.Post(report);
    }
}
