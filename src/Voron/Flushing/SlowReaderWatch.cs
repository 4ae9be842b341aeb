using Voron.Snapshots;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Names the reader that holds on to journal or scratch memory, while there is still room up to the limits.</summary>
/// <remarks>
/// The scheduler makes the checks; the user's observer is called on the thread pool.
/// </remarks>
internal sealed class SlowReaderWatch
{
    /// <summary>Beyond this part of the journal or scratch limit (one half), the oldest reader is named.</summary>
    public const int PartOfLimit = 2;

    private readonly Engine _context;
    private readonly List<ActiveReader> _readers = [];
    private (int Slot, long Use) _reported = (-1, 0);
    private long _reportedAtTick;

    public SlowReaderWatch(Engine context) => _context = context;

    /// <summary>True when it is time to check for a reader that is in the way.</summary>
    public bool IsNearLimit =>
        _context.JournalFiles!.LiveRecordBytes >= _context.Options.JournalLimitBytes / PartOfLimit
        || _context.VersionBytes >= _context.Options.ScratchLimitBytes / PartOfLimit;

    /// <summary>Names the oldest reader if a flush cannot get past it; each reader once per interval.</summary>
    /// <param name="checkpointId">The last flushed transaction: a reader of a newer state is not in the way yet.</param>
    public void Check(long checkpointId)
    {
        if (!IsNearLimit)
            return;
        _context.Readers.Collect(_readers, _context.FlusherSlot);
        ActiveReader? oldest = null;
        foreach (var reader in _readers)
        {
            if (reader.Slot != _context.FlusherSlot && (oldest == null || reader.Snapshot < oldest.Value.Snapshot))
                oldest = reader;
        }

        if (oldest is not { } slow || slow.Snapshot > checkpointId || slow.Snapshot >= _context.Ring.PublishedId)
            return;
        if (_context.Readers.Describe(slow) is not { } origin)
            return;
        var now = Environment.TickCount64;
        if (_reported == (slow.Slot, origin.Use) && now - _reportedAtTick < _context.Options.SlowReaderInterval.TotalMilliseconds)
            return;
        _reported = (slow.Slot, origin.Use);
        _reportedAtTick = now;
        Report(new SlowReaderReport(
            slow.Snapshot, _context.JournalFiles!.LiveRecordBytes, _context.VersionBytes, origin.OpenedAt?.ToString(), origin.Age,
            origin.ThreadId));
    }

    private void Report(SlowReaderReport report)
    {
        FlushLog.SlowReader(
            _context.Logger, _context.Disk.Path, report.TransactionId, report.Age, report.JournalBytes, report.ScratchBytes, report.ThreadId,
            report.OpenedAt ?? "unknown");
        _context.Observers.Post(report);
    }
}
