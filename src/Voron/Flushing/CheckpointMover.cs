using System.Diagnostics;
using Voron.ChangeTracking;
using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Paging;
using Voron.Primitives;
using Voron.Snapshots;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Moves the checkpoint: stamps the data file, writes the header, and releases the files that the replaced header needed.</summary>
/// <remarks>
/// Used under the flusher's lock. The order of the states holds at each move:
/// <code>
///   checkpoint &lt;= oldest reader &lt;= published &lt;= submitted, checkpoint &lt;= durable &lt;= submitted
/// </code>
/// The header moves only after the data file has been synced, and journal files are released only after the header has moved.
/// </remarks>
internal sealed class CheckpointMover
{
    private readonly EngineLock _flush;
    private readonly ReadingEngine _engine;
    private readonly JournalWriter _journal;
    private readonly JournalFileSet _files;
    private readonly ChangedPageTracker _changedPages;
    private readonly HeaderFile _checkpoints;
    private ulong _stamp;
    private long _checkpointId;
    private long _liveOwnBytes;

    /// <param name="flush">The flusher's lock.</param>
    public CheckpointMover(EngineLock flush, Engine engine, HeaderFile checkpoints)
    {
        _flush = flush;
        _engine = engine;
        _journal = engine.Journal!;
        _files = engine.JournalFiles!;
        _changedPages = engine.ChangedPages!;
        _checkpoints = checkpoints;
    }

    /// <summary>The transaction whose state the data file holds.</summary>
    public long CheckpointId => Volatile.Read(ref _checkpointId);

    /// <summary>The number of bytes that replay would read in records of the last flush: the next flush makes them obsolete.</summary>
    public long LiveOwnBytes => Volatile.Read(ref _liveOwnBytes);

    /// <summary>
    /// Bytes that count against the journal limit. The last flush's own records do not: the next flush makes them obsolete, and they would slow
    /// writers when nothing is left to flush.
    /// </summary>
    public long HeldJournalBytes => _files.LiveRecordBytes - LiveOwnBytes;

    /// <param name="stamp">The stamp of the data file.</param>
    public void Start(ulong stamp)
    {
        _checkpointId = _checkpoints.Current.State.TransactionId;
        _stamp = stamp;
    }

    /// <summary>
    /// Stamps the data file as being changed by a flush. The stamp is durable before the first page is overwritten: a data file with any page of a
    /// flush says so, wherever it is copied.
    /// </summary>
    public void StampBegun(long number)
    {
        AssertHeld();
        var stamp = DataFileStamp.Begun(number);
        if (stamp == _stamp)
            return;
        _engine.DataFile.WriteStamp(stamp);
        _engine.DataFile.Sync();
        _stamp = stamp;
    }

    /// <summary>Stamps the data file as containing all pages of a flush. The stamp is durable after the next sync.</summary>
    public void StampFinished(long number)
    {
        AssertHeld();
        _engine.DataFile.WriteStamp(_stamp = DataFileStamp.Finished(number));
    }

    /// <summary>Moves the checkpoint, or names a journal snapshot; the header is durable when this method returns.</summary>
    /// <param name="target">The state that the data file holds or, with a journal snapshot, that the snapshot holds.</param>
    /// <param name="number">The number of the flush; 0 to take one.</param>
    /// <param name="snapshot">The journal snapshot, or default.</param>
    /// <param name="ownRecords">The records of the last flush.</param>
    /// <exception cref="EnvironmentPoisonedException">The header could not be written, or an earlier write has failed.</exception>
    public void Move(in PublishedState target, long number, in JournalSnapshotInfo snapshot, FlushRecordWriter ownRecords)
    {
        AssertHeld();
        AssertOrder(target, snapshot.Number != 0);
        var header = _checkpoints.Current;
        if (snapshot.Number == 0)
            header.State = target.State;
        header.ReplayStart = target.JournalEnd;
        header.Flags = CheckpointFlags.IsStamped;
        header.DataFileStamp = _stamp;
        header.JournalSnapshotNumber = snapshot.Number;
        header.JournalSnapshotTransactionId = snapshot.Number == 0 ? 0 : target.State.TransactionId;
        header.JournalSnapshotLength = snapshot.Length;
        header.JournalSnapshotIncarnation = snapshot.Incarnation;
        header.ChangeLogEntry = _changedPages.Named;
        try
        {
            // The last caller that synced the data file may have received the error of this flush's writes.
            _engine.Poison.ThrowIfPoisoned();
            _checkpoints.Write(header, number != 0 ? number : _checkpoints.TakeNumber());
        }
        catch (DiskException e)
        {
            throw Poisoned(e);
        }

        // Replay would read the flush records after its start: all of this flush's own; after a journal snapshot, those of the flush before
        // it that were written after the snapshot's transaction.
        Volatile.Write(ref _liveOwnBytes, ownRecords.BytesAfter(target.JournalEnd.Sequence));
        if (snapshot.Number == 0)
            Volatile.Write(ref _checkpointId, target.State.TransactionId);
    }

    /// <summary>Releases the files that the replaced header needed: its journal snapshot, and journal files.</summary>
    public void ReleaseReplaced(in PublishedState target, long oldSnapshot, in JournalSnapshotInfo snapshot)
    {
        AssertHeld();
        Debug.Assert(
            _checkpoints.Current.ReplayStart.Sequence == target.JournalEnd.Sequence, "journal files are released only after the header has moved");
        SchedulePoint.Reach(SchedulePlace.CheckpointWritten);
        try
        {
            // The slot before this one may name the old journal snapshot: the file is deleted when neither slot does.
            if (oldSnapshot != 0 && oldSnapshot != snapshot.Number && !PlantedFault.KeepJournalSnapshots)
            {
                _checkpoints.WriteBothAlike();
                JournalSnapshotFile.Delete(_engine.Disk, oldSnapshot);
            }
        }
        catch (DiskException e)
        {
            throw Poisoned(e);
        }

        _files.ReleaseBefore(target.JournalEnd);
        SchedulePoint.Reach(SchedulePlace.JournalReleased);
    }

    /// <summary>
    /// Marks the environment as closed cleanly, after a flush of everything: the header names the exact end of the journal, and both slots are
    /// identical. Then deletes the journal files before the end.
    /// </summary>
    /// <exception cref="EnvironmentPoisonedException">The header could not be written.</exception>
    public void MarkClosed(in JournalPosition journalEnd)
    {
        AssertHeld();
        var header = _checkpoints.Current;
        header.ReplayStart = journalEnd;
        header.Flags = CheckpointFlags.ClosedCleanly | CheckpointFlags.IsStamped;
        header.DataFileStamp = _stamp;
        try
        {
            _checkpoints.Write(header, _checkpoints.TakeNumber());
            _checkpoints.WriteBothAlike();
        }
        catch (DiskException e)
        {
            throw Poisoned(e);
        }

        SchedulePoint.Reach(SchedulePlace.CheckpointWritten);
        _files.KeepOnlyLive(journalEnd);
    }

    /// <summary>
    /// Upgrades the environment to the newest version, with more features: both slots say so, durably, before the first record or file of that
    /// version, and before the first use of a feature.
    /// </summary>
    /// <remarks>
    /// The checkpoint stays the same, with its number, state, start and stamp: a paused or aborted flush has a higher number, and recovery treats
    /// its records as those of a later flush. Until a record of the new version is written, the journal has the older one; opening follows the
    /// header, and the next file has its version.
    /// </remarks>
    /// <exception cref="EnvironmentPoisonedException">The header could not be written.</exception>
    public void UpgradeFormat(FormatFeatures features)
    {
        AssertHeld();
        try
        {
            _checkpoints.Upgrade(features);
        }
        catch (DiskException e)
        {
            throw Poisoned(e);
        }

        _engine.Format.Adopt(_checkpoints.Current);
    }

    /// <summary>Makes both slots of the header name the change log, which has just begun.</summary>
    /// <exception cref="EnvironmentPoisonedException">The header could not be written.</exception>
    public void NameChangeLog()
    {
        AssertHeld();
        try
        {
            _checkpoints.NameChangeLog(_changedPages.Named);
        }
        catch (DiskException e)
        {
            throw Poisoned(e);
        }
    }

    private EnvironmentPoisonedException Poisoned(DiskException cause)
    {
        _engine.Poison.Set(cause);
        return _engine.Poison.Exception(CommitOutcome.NotCommitted);
    }

    [Conditional("DEBUG")]
    private void AssertHeld() => _flush.AssertHeld();

    // A header that does not move the checkpoint only moves the start of replay.
    [Conditional("DEBUG")]
    private void AssertOrder(in PublishedState target, bool isSnapshot)
    {
        var id = target.State.TransactionId;
        Debug.Assert(id >= _checkpointId, "the checkpoint never moves back");
        Debug.Assert(
            id <= _engine.Ring.PublishedId || PlantedFault.FlushPastDurable, "checkpoint <= published: no transaction is flushed before readers see it");
        Debug.Assert(
            target.JournalEnd.Sequence <= _journal.DurableSequence || PlantedFault.BelievePublished,
            "checkpoint <= durable: only durable transactions are flushed");

        if (isSnapshot || id == _checkpointId || PlantedFault.FlushPastDurable)
            return;
        Debug.Assert(id <= _engine.Readers.Horizon, "checkpoint <= oldest reader: none registers below the horizon");
        Debug.Assert(IsRegistered(id), "checkpoint <= oldest reader: the flusher's own slot has the state that it flushes");
        Debug.Assert(
            !_engine.Readers.HasReaderBelow(id) || PlantedFault.FlushPastOldestReader || PlantedFault.ScanWithoutHorizon
                || PlantedFault.RegisterUnconfirmed || PlantedFault.JoinUnconfirmed,
            "checkpoint <= oldest reader");
    }

    private unsafe bool IsRegistered(long id) => _engine.Readers.State(_engine.FlusherSlot)->State.TransactionId == id;
}
