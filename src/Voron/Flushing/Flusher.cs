using System.Diagnostics;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Snapshots;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>
/// Brings the data file up to a snapshot, moves the checkpoint, releases journal files, and detaches versions that the data file now holds.
/// </summary>
/// <remarks>
/// <code>
///   idle ─▶ chosen ─▶ listed ─▶ written ─▶ synced ─▶ checkpoint durable ─▶ released ─▶ detached ─▶ idle
///                       │          │ no space: paused, and resumed at the same snapshot with the list already written
///                       │          │ any other failure: poisoned
/// </code>
/// Invariants: a page is overwritten only after it is listed durably; only durable transactions are flushed, and none past a registered
/// snapshot; the header moves only after a sync; journal files are released only after the header has moved.
/// <para>
/// The lock is released before waiting for the writer: see <see cref="VersionDetacher"/>.
/// </para>
/// </remarks>
internal sealed unsafe class Flusher
{
    // Held for a flush, a journal snapshot or the close. Protects the checkpoint header, the plans and the flusher's reader slot.
    private readonly EngineLock _lock = new(LockRank.Flush);
    private readonly Engine _engine;
    private readonly HeaderFile _checkpoints;
    private readonly CheckpointMover _mover;
    private readonly VersionDetacher _detacher;
    private readonly SingleWriter _writer;
    private readonly FlushTargetChooser _target;
    private readonly FlushPageWriter _pages;
    private readonly FlushRecordWriter _records;
    private readonly FlushReporter _reporter;
    private readonly Stack<FlushPlan> _plans = new();
    private FlushPlan? _paused;
    private bool _isClosed;

    public Flusher(Engine engine, HeaderFile checkpoints, SingleWriter writer)
    {
        _engine = engine;
        _checkpoints = checkpoints;
        _mover = new CheckpointMover(_lock, engine, checkpoints);
        _detacher = new VersionDetacher(engine, writer);
        _writer = writer;
        _target = new FlushTargetChooser(engine);
        _pages = new FlushPageWriter(engine, _mover, () => SpareJournalFiles.Prepare(engine));
        _records = new FlushRecordWriter(engine, engine.Journal!);
        _reporter = new FlushReporter(engine);
        Space = new SpaceCensus(_lock, engine, checkpoints);
        ChangeLog = new ChangeLogKeeper(_lock, engine, engine.ChangedPages!, checkpoints, _mover, writer);
    }

    /// <summary>The count of free pages.</summary>
    public SpaceCensus Space { get; }

    /// <summary>The beginning of the change log, and its points.</summary>
    public ChangeLogKeeper ChangeLog { get; }

    /// <inheritdoc cref="CheckpointMover.CheckpointId"/>
    public long CheckpointId => _mover.CheckpointId;

    /// <inheritdoc cref="CheckpointMover.HeldJournalBytes"/>
    public long HeldJournalBytes => _mover.HeldJournalBytes;

    /// <summary>The oldest reader that held the last flush back, or null.</summary>
    public ActiveReader? BlockingReader { get; private set; }

    /// <inheritdoc cref="CheckpointMover.Start"/>
    public void Start(ulong stamp) => _mover.Start(stamp);

    /// <summary>Flushes as much as possible. Returns null when there was nothing to do. The caller calls the observers.</summary>
    /// <exception cref="EnvironmentPoisonedException">A write or a sync failed, now or before.</exception>
    /// <exception cref="StorageFullException">There is not enough space; the flush is paused and can be retried.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public FlushReport? Flush()
    {
        FlushPlan? plan;
        FlushReport report;
        long detach;
        using (_lock.Enter())
        {
            ThrowIfClosed();
            plan = FlushLocked(out report, out detach);
            if (PlantedFault.DetachUnderLock && plan != null)
                _detacher.Detach(plan, detach);
        }

        if (plan == null)
            return null;
        try
        {
            _detacher.Detach(plan, detach);
        }
        finally
        {
            using (_lock.Enter())
                _plans.Push(plan);
        }

        return report;
    }

    /// <summary>
    /// Releases the journal files whose records are all in the data file: writes a header with the same state and a replay start after them. Used
    /// on opening, before anything is written. Does nothing when there is something to flush.
    /// </summary>
    /// <exception cref="EnvironmentPoisonedException">The header could not be written.</exception>
    public void ReleaseReplayed()
    {
        using (_lock.Enter())
        {
            _engine.Ring.Read(out var published);
            if (published.State.TransactionId != CheckpointId || _checkpoints.Current.JournalSnapshotNumber != 0)
                return;
            _mover.Move(published, number: 0, snapshot: default, _records);
            _mover.ReleaseReplaced(published, oldSnapshot: 0, snapshot: default);
        }
    }

    /// <summary>Counts some more of the free pages, after the opening.</summary>
    /// <inheritdoc cref="SpaceCensus.CountSome(int)"/>
    public void CountSpace(int mostGroups)
    {
        using (_lock.Enter())
        {
            if (!_isClosed && _paused == null)
                Space.CountSome(mostGroups);
        }
    }

    /// <summary>
    /// Releases the frames of versions whose last readers have ended since the flush. Does nothing while the writer is taken.
    /// </summary>
    public void ReclaimVersions()
    {
        if (!_writer.TryEnter(TimeSpan.Zero, CancellationToken.None))
            return;
        try
        {
            _writer.VersionReclaimer.Reclaim();
        }
        finally
        {
            _writer.Release();
        }
    }

    /// <summary>
    /// Flushes as much as possible for the holder of the writer, whose open transaction has run out of space, and detaches the flushed versions
    /// immediately.
    /// </summary>
    /// <remarks>
    /// The open transaction is not affected. A page that it has changed has its own version, newer than the flushed one. A page that it reads
    /// without a version comes from the data file from here on, which holds the same bytes. Frames whose addresses the transaction may hold stay
    /// unchanged: frames of detached versions are reused only at the beginning of the next transaction, or by the flusher while it holds the writer.
    /// </remarks>
    /// <returns>False when nothing has become free: there was nothing to flush, a reader is in the way, or the environment is closed.</returns>
    /// <exception cref="EnvironmentPoisonedException">A write or a sync failed, now or before.</exception>
    /// <exception cref="StorageFullException">There is not enough space for the flush; it is paused.</exception>
    public bool FlushForWriter()
    {
        _writer.AssertHeld();
        FlushPlan? plan;
        long detach;
        using (_lock.Enter())
        {
            // The transaction may outlive the environment; it then finds that there is no space.
            if (_isClosed)
                return false;
            _pages.IsUrgent = true;
            try
            {
                plan = FlushLocked(out _, out detach);
            }
            finally
            {
                _pages.IsUrgent = false;
            }

            if (plan == null)
            {
                if (!_engine.Versions.DetachIsIncomplete)
                    return false;

                // An earlier flush is still waiting for the writer, or has waited in vain.
                detach = _engine.Versions.LastDetach;
                plan = CollectFlushed();
            }
        }

        try
        {
            _detacher.DetachAsHolder(plan, detach);
            return true;
        }
        finally
        {
            using (_lock.Enter())
                _plans.Push(plan);
        }
    }

    /// <summary>
    /// Upgrades an environment of an older format version to the newest, before its first use of a feature that only the newest version has.
    /// Called by the holder of the writer, whose transaction is the first that may use it.
    /// </summary>
    /// <exception cref="EnvironmentPoisonedException">The header could not be written, or an earlier write has failed.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    /// <param name="features">The features that the header must name too.</param>
    /// <returns>False if nothing had to be changed.</returns>
    public bool UpgradeFormat(FormatFeatures features = FormatFeatures.None)
    {
        _writer.AssertHeld();
        if ((features & ~JournalFormat.KnownFeatures) != 0)
            throw new ArgumentException($"This engine cannot open an environment with the features {features}.", nameof(features));
        using (_lock.Enter())
        {
            ThrowIfClosed();
            _engine.Poison.ThrowIfPoisoned();
            if (_engine.Format.Version == JournalFormat.Version && _engine.Format.Has(features))
                return false;
            _mover.UpgradeFormat(features);
            return true;
        }
    }

    /// <summary>
    /// Ends all flushing: flushes as much as possible, marks the header as needing no replay if nothing is left to be replayed, and accepts
    /// no more flushes. No transaction is submitted any more. A poisoned environment writes nothing.
    /// </summary>
    public void Close()
    {
        using (_lock.Enter())
        {
            _isClosed = true;
            ChangeLog.Close();
            if (!_engine.Poison.IsPoisoned)
            {
                if (!_engine.Disk.IsVolatile)
                    FlushAndMarkClosed();
            }
            else if (PlantedFault.WriteWhenPoisoned)
                _checkpoints.WriteBothAlike();
        }
    }

    /// <summary>
    /// Writes all unflushed pages in full, as of the published state, to a separate file, so that the journal before it can be released although
    /// an old reader holds the data file back. Returns false when there was nothing to gain.
    /// </summary>
    public bool WriteJournalSnapshot()
    {
        using (_lock.Enter())
        {
            ThrowIfClosed();
            _engine.Poison.ThrowIfPoisoned();
            if (_paused != null)
                return false;
            var plan = RentPlan();
            var target = _target.ChoosePublished();
            try
            {
                if (target.State.TransactionId <= Math.Max(CheckpointId, _checkpoints.Current.JournalSnapshotTransactionId))
                    return false;
                plan.Collect(_engine.Versions, target, CheckpointId, inFull: true);
                var snapshot = JournalSnapshotWriter.Write(_engine, plan, _checkpoints.Current);
                var replaced = _checkpoints.Current.JournalSnapshotNumber;
                _engine.ChangedPages!.AddDirectWrites(target.State.TransactionId);
                _mover.Move(target, 0, snapshot, _records);
                _engine.ChangedPages.NoteHeaderMoved(target.State.TransactionId);
                _mover.ReleaseReplaced(target, replaced, snapshot);
                _engine.Counters.JournalSnapshotCount++;
                return true;
            }
            finally
            {
                _target.Release();
                _plans.Push(plan);
            }
        }
    }

    private void ThrowIfClosed()
    {
        if (_isClosed)
            throw EndedErrors.Environment(_engine.Disk.Path);
    }

    private FlushPlan RentPlan() => _plans.TryPop(out var plan) ? plan : new FlushPlan(_engine.Heap);

    private FlushPlan? FlushLocked(out FlushReport report, out long detach)
    {
        _lock.AssertHeld();
        _engine.Poison.ThrowIfPoisoned();
        var start = Stopwatch.GetTimestamp();
        try
        {
            return FlushLocked(start, out report, out detach);
        }
        catch (Exception e)
        {
            _reporter.ReportFailure(start, e);
            throw;
        }
    }

    // Returns the plan that is left to be detached, and the number that identifies this detach in the version table.
    private FlushPlan? FlushLocked(long start, out FlushReport report, out long detach)
    {
        report = default;
        detach = 0;
        var plan = _paused ?? Prepare();
        if (plan == null)
            return null;

        _paused = plan;
        WritePages(plan);
        var transactions = plan.Target.State.TransactionId - CheckpointId;

        // From here on, the data file holds pages that have a version too.
        detach = _engine.Versions.BeginDetach();
        var replaced = _checkpoints.Current.JournalSnapshotNumber;
        var id = plan.Target.State.TransactionId;
        _engine.ChangedPages!.AddFlush(plan.AddChangedTo, id);
        _mover.Move(plan.Target, plan.Number, snapshot: default, _records);
        _engine.ChangedPages.NoteHeaderMoved(id);

        // The number of this flush has been used. No later failure must bring the plan back: a second pass would mark the data file as
        // unfinished under the number that the header names, and a crash in it would leave a store that is refused.
        _paused = null;
        _target.Release();
        _mover.ReleaseReplaced(plan.Target, replaced, snapshot: default);
        report = _reporter.Report(plan, _pages, transactions, start) with { OwnJournalBytes = _records.Bytes };
        Space.CountSome(SpaceCensus.GroupsAtOnce);
        return plan;
    }

    // Collects the versions that are in the data file and not detached yet.
    private FlushPlan CollectFlushed()
    {
        var plan = RentPlan();
        try
        {
            plan.Collect(_engine.Versions, new PublishedState { State = _checkpoints.Current.State }, CheckpointId);
            return plan;
        }
        catch
        {
            _plans.Push(plan);
            throw;
        }
    }

    private void FlushAndMarkClosed()
    {
        var journal = _engine.Journal!;
        journal.Drain();
        SchedulePoint.Reach(SchedulePlace.Closing);
        FlushLocked(out _, out _);
        if (journal.End.Epoch == 0)
            return;
        if (CheckpointId == _engine.Ring.PublishedId)
        {
            _mover.MarkClosed(JournalShrinking.Begin(_engine, _engine.JournalFiles!, journal.End));
            _engine.DataFile.CutWhenClosed(GrowthPolicy.KeptWhenClosed(_checkpoints.Current.State.PageCount, _engine.PageSize));
        }
        else
        {
            // A reader keeps the checkpoint back: replay needs the files from its start on.
            _engine.JournalFiles!.KeepOnlyLive(_checkpoints.Current.ReplayStart);
        }
    }

    private FlushPlan? Prepare()
    {
        var target = _target.Choose();
        BlockingReader = _target.OldestReader;
        SchedulePoint.Reach(SchedulePlace.TargetChosen);
        if (PlantedFault.FlushPastDurable)
            target.State = _writer.Submitted;
        var id = target.State.TransactionId;
        if (id <= CheckpointId || id < _checkpoints.Current.JournalSnapshotTransactionId)
        {
            _target.Release();
            return null;
        }

        var plan = RentPlan();
        try
        {
            plan.Number = 0;
            plan.Collect(_engine.Versions, target, CheckpointId);
            plan.Number = plan.Items.Count > 0 ? _checkpoints.TakeNumber() : 0;
            _pages.SetChecksums(plan);
            _records.Write(plan, _checkpoints.Current.JournalSnapshotTransactionId);
            SchedulePoint.Reach(SchedulePlace.FlushListed);
            return plan;
        }
        catch
        {
            // A flush to a full disk is retried repeatedly; a number that no record names is unused.
            if (plan.Number != 0 && _records.Number != plan.Number)
                _checkpoints.ReturnNumber(plan.Number);
            _target.Release();
            _plans.Push(plan);
            throw;
        }
    }

    private void WritePages(FlushPlan plan)
    {
        _engine.DataFile.CheckLength();
        Debug.Assert(plan.Number == 0 || _records.Number == plan.Number, "a page is overwritten only after it is listed durably");
        try
        {
            if (plan.Number != 0 && !PlantedFault.StampAtEnd)
                _mover.StampBegun(plan.Number);
            _pages.Write(plan);
            if (plan.Number != 0)
                _mover.StampFinished(plan.Number);
            SchedulePoint.Reach(SchedulePlace.FlushWritten);
        }
        catch (DiskException e) when (e.Error == DiskError.NoSpace)
        {
            throw new StorageFullException($"The flush is paused, because the disk is full: {e.Message}", e);
        }
        catch (DiskException e)
        {
            _engine.Poison.Set(e);
            throw _engine.Poison.Exception(CommitOutcome.NotCommitted);
        }

        _engine.DataFile.Sync();
        _engine.DataFile.CheckLength();
        SchedulePoint.Reach(SchedulePlace.FlushSynced);
    }
}
