using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>The journal that recovery found, as the scheduler needs it.</summary>
/// <param name="UnflushedBytes">Bytes of journal that were replayed at opening and are not flushed yet.</param>
/// <param name="IsDurabilityConfirmed">True if the last record needs no other record to confirm its durability.</param>
internal readonly record struct ReplayedJournal(long UnflushedBytes, bool IsDurabilityConfirmed);

/// <summary>Decides when to flush, on its own thread: by bytes in the journal, past it and in page versions, by age, and by journal files.</summary>
/// <remarks>
/// The same thread prepares the next journal file, writes blocks ahead of large values, confirms the durability of an idle journal's tail, writes
/// journal snapshots of pages that an old reader keeps out of the data file, and wakes writers that back-pressure has stopped.
/// </remarks>
internal sealed class FlushScheduler : IFlushServices
{
    private const int MaxJournalFiles = 48;

    // Small files reach this count long before the limit in bytes. Recovery examines each of them.
    private const int MaxHeldFiles = 256;
    private const int MaxHeldAtAnyCost = 4 * MaxHeldFiles;

    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestPause = TimeSpan.FromMinutes(1);

    // Writers wait for a flush, and it may find space at any time. The other retries wait for human action.
    private readonly RetryPause _flushRetry = new(Tick, TimeSpan.FromSeconds(5));
    private readonly RetryPause _growthRetry = new(Second, LongestPause);
    private readonly RetryPause _journalSnapshotRetry = new(Second, LongestPause);
    private readonly RetryPause _confirmRetry = new(Second, LongestPause);
    private readonly RetryPause _writtenBlocksRetry = new(Second, LongestPause);

    // These only limit how often a failure is logged. The attempts themselves have their own schedules.
    private readonly RetryPause _reclaimRetry = new(Second, LongestPause);
    private readonly RetryPause _otherRetry = new(Second, LongestPause);

    private readonly Engine _engine;
    private readonly Flusher _flusher;
    private readonly Action _reclaim;
    private readonly WriterThrottle _throttle;
    private readonly RoomMaker _room;
    private readonly DurabilityConfirmation _confirmation;
    private readonly SlowReaderWatch _slowReaders;
    private readonly MemoryTrimmer _trimmer;
    private readonly WrittenBlocks _writtenBlocks;
    private readonly FlushPolicy _policy;
    private readonly BackgroundThread _thread;

    // If true, the thread only bounds memory: its work makes nothing safer.
    private readonly bool _isVolatile;
    private long _freeAtReclaim;
    private long _reclaimedAtTick = Environment.TickCount64;
    private long _writtenBytes;
    private long _flushedAtBytes;
    private long _flushedAtDirectBytes;
    private long _flushedAtPageChanges;
    private long _seenDirectBytes;
    private long _journalSnapshotAtBytes;
    private long _dirtySinceTick = -1;
    private bool _isIdle = true;
    private bool _wasNearLimit;
    private bool _hadOlderAttached;
    private volatile bool _spareWanted;
    private bool _hasLoggedPoison;
    private bool _writesMoreBlocks;

    /// <param name="reclaim">Returns free space to the file system.</param>
    /// <param name="punch">See <see cref="SpaceReclaimer.PunchForWriter"/>.</param>
    /// <param name="trimmer">Returns memory to the system.</param>
    /// <param name="replayed">The journal that recovery found.</param>
    public FlushScheduler(
        Engine engine, Flusher flusher, Action reclaim, Func<long, long> punch, MemoryTrimmer trimmer, in ReplayedJournal replayed)
    {
        _writtenBytes = replayed.UnflushedBytes;
        _reclaim = reclaim;
        _trimmer = trimmer;
        _engine = engine;
        _thread = new BackgroundThread("Voron flusher", engine.Options.ThreadIdleTime, Run);
        _isVolatile = engine.Disk.IsVolatile;
        _policy = new FlushPolicy(engine.Options, _isVolatile);
        _throttle = new WriterThrottle(engine, flusher, _thread);
        _room = new RoomMaker(engine, engine.Journal!, flusher, punch);
        _confirmation = new DurabilityConfirmation(engine.Journal!);
        _slowReaders = new SlowReaderWatch(engine);
        _writtenBlocks = new WrittenBlocks(engine);
        engine.Ring.Read(out var newest);
        _freeAtReclaim = newest.State.PageCount;
        _flusher = flusher;

        // A durability marker begins a journal file, so an open that writes nothing else must not write a marker each time.
        if (replayed.IsDurabilityConfirmed && !PlantedFault.ConfirmAtEachOpening)
            _confirmation.Begin();
        if (!engine.Options.BackgroundFlush)
            _thread.RefuseStart();
        else if (!_isVolatile)
            flusher.CountSpace(SpaceCensus.GroupsAtOpening);
        if (engine.Options.BackgroundFlush && (!IsIdle() || trimmer.IsWorthWaiting))
            _thread.TryWake();
    }

    /// <summary>True while the flusher's thread exists.</summary>
    public bool HasThread => _thread.IsRunning;

    /// <summary>Bytes of journal since the last flush, padding included.</summary>
    public long UnflushedJournalBytes => Volatile.Read(ref _writtenBytes) - Volatile.Read(ref _flushedAtBytes);

    // Recovery must read back bytes written outside the journal, and the space that they replaced becomes free only after a flush.
    private long UnflushedDirectBytes => Volatile.Read(ref _engine.Counters.DirectBytes) - _flushedAtDirectBytes;

    // A hint: the counters belong to other threads.
    private UnflushedChanges UnflushedChanges => new(
        Volatile.Read(ref _engine.Counters.PagesChanged) - _flushedAtPageChanges, _engine.Versions.MaxPagesToFlush, _engine.VersionBytes);

    public void OnRecordDurable(long bytes)
    {
        var written = Interlocked.Add(ref _writtenBytes, bytes);
        var unflushed = written - _flushedAtBytes;
        if ((Volatile.Read(ref _isIdle) && !_isVolatile) || _policy.Reaches(unflushed - bytes, unflushed))
            _thread.TryWake();

        // Once per threshold's worth of bytes: the flush that this wake-up requests may already be under way.
        var direct = Volatile.Read(ref _engine.Counters.DirectBytes);
        if (direct - _seenDirectBytes >= _policy.Usual)
        {
            _seenDirectBytes = direct;
            _thread.TryWake();
        }

        // On a fast device, a file fills up long before the next tick.
        if (!_spareWanted && _engine.JournalFiles!.WantsSpare)
        {
            _spareWanted = true;
            _thread.TryWake();
        }

        // Wakes the thread now: by the next tick, the limit may have been reached.
        var isNear = _slowReaders.IsNearLimit;
        if (isNear && !_wasNearLimit)
            _thread.TryWake();
        _wasNearLimit = isNear;

        // The thread forgets the objects of earlier states once it has run for a while.
        var hasOlderAttached = _engine.Ring.HasOlderAttached;
        if (hasOlderAttached && !_hadOlderAttached)
            _thread.TryWake();
        _hadOlderAttached = hasOlderAttached;
    }

    // Without a thread, no flush would end the delay.
    public TimeSpan ThrottleWriter(TimeSpan longest) => _engine.Options.BackgroundFlush ? _throttle.Throttle(longest) : TimeSpan.Zero;

    public ValueTask ThrottleWriterAsync(CancellationToken cancellationToken) =>
        _engine.Options.BackgroundFlush ? _throttle.ThrottleAsync(cancellationToken) : ValueTask.CompletedTask;

    public bool IsDelaying => _engine.Options.BackgroundFlush && _throttle.IsDelayed;

    public bool IsFlushDue => HeldJournalBytes >= _policy.Least || _engine.VersionBytes > _engine.Options.FlushVersionBytes;

    public bool TryFlush() => _room.TryFlush();

    public bool TryPunch() => _room.TryPunch();

    public void RequireFeatures(FormatFeatures features)
    {
        if (_flusher.UpgradeFormat(features))
            FlushLog.FormatChanged(_engine.Logger, _engine.Disk.Path, _engine.Format.Version, _engine.Format.Features);
    }

    /// <inheritdoc cref="WriterThrottle.HeldJournalBytes"/>
    public long HeldJournalBytes => _throttle.HeldJournalBytes;

    /// <summary>
    /// Stops the thread, and returns when it has ended. Called when closing has begun: the thread calls no user code, does not wait for the
    /// writer any more, and therefore waits only for the device, and for other threads that do.
    /// </summary>
    public void Stop()
    {
        _thread.RefuseStart();
        _throttle.Stop();
        try
        {
            _throttle.ReportProgress();
        }
        finally
        {
            _thread.Join();
            LogIfPoisoned();
        }
    }

    // An exception that ended this thread would end the process.
    private void Run()
    {
        try
        {
            while (!_thread.IsStopping)
            {
                if (!WaitForWork())
                    return;
                if (_thread.IsStopping || _engine.Poison.IsPoisoned)
                    break;
                TryRunOnce();
                _engine.OnWork?.Invoke();
                _throttle.ReportProgress();
            }
        }
        catch (Exception e)
        {
            // An unforeseen failure: the state in memory cannot be trusted with more writes.
            _engine.Poison.Set(e);
        }

        _thread.RefuseStart();
        LogIfPoisoned();
        _throttle.ReportProgress();
    }

    // Called by the thread when it ends, or when there is none any more.
    private void LogIfPoisoned()
    {
        if (!_engine.Options.BackgroundFlush || _hasLoggedPoison || _engine.Poison.Cause is not { } cause)
            return;
        _hasLoggedPoison = true;
        FlushLog.Ended(_engine.Logger, _engine.Disk.Path, cause.Message, cause);
    }

    // Returns false when the thread must end for lack of work: the next commit starts another one.
    private bool WaitForWork()
    {
        // Announces idleness before checking for work: a commit in between is either seen here, or sees the flag and wakes the thread.
        Volatile.Write(ref _isIdle, true);
        Interlocked.MemoryBarrier();
        var idle = IsIdle();
        SchedulePoint.Reach(SchedulePlace.Idle);
        Volatile.Write(ref _isIdle, idle);
        if (idle && !_trimmer.IsWorthWaiting && !_writtenBlocks.AreKept)
            return _thread.WaitOrEnd();
        _thread.Wait(_writesMoreBlocks ? TimeSpan.Zero : idle ? MemoryTrimmer.Period : Tick);
        _writesMoreBlocks = false;
        return true;
    }

    private void TryRunOnce()
    {
        try
        {
            RunOnce();
        }
        catch (Exception e) when (e is VoronException or OutOfMemoryException)
        {
            // Running out of memory is expected at each step, as it is when a caller flushes: the next tick tries again. A failure that has
            // poisoned the environment ends the thread, which logs it.
            if (!_engine.Poison.IsPoisoned && _otherRetry.Failed())
                FlushLog.Failed(_engine.Logger, _engine.Disk.Path, e.Message, e);
        }
        catch (OperationCanceledException) when (_engine.Closing.IsCancellationRequested)
        {
            // The thread was waiting for the writer, to reclaim space.
        }
    }

    // Nothing is unflushed, no record still needs a durability marker, and free space has been counted: the next commit wakes the thread.
    private bool IsIdle() => _isVolatile
        ? UnflushedJournalBytes < _policy.Usual && UnflushedDirectBytes < _policy.Usual && !_throttle.IsOverLimit
        : UnflushedJournalBytes == 0 && _confirmation.IsConfirmed && _flusher.Space.IsComplete
            && (!_engine.JournalFiles!.WantsSpare || !_engine.Journal!.HasBegun) && !_writtenBlocks.AreDue;

    private void RunOnce()
    {
        SpareJournalFiles.Prepare(_engine);
        _spareWanted = false;
        if (!_flusher.Space.IsComplete)
            _flusher.CountSpace(SpaceCensus.GroupsAtOnce);
        if (_growthRetry.IsOver)
            Try(_growthRetry, static scheduler => scheduler.PreallocateAhead());
        if (_flushRetry.IsOver && ShouldFlush())
            Try(_flushRetry, static scheduler => scheduler.FlushNow());

        // The next transaction does the same, but delayed writers wait before they begin one.
        if (_throttle.IsOverLimit)
            _flusher.ReclaimVersions();
        _slowReaders.Check(_flusher.CheckpointId);
        if (_journalSnapshotRetry.IsOver && IsHeldBack())
            Try(_journalSnapshotRetry, static scheduler => scheduler.WriteJournalSnapshot());
        _trimmer.TrimWhenDue();

        // After the other steps, since it fails on a full disk, where a flush may free space.
        if (_confirmRetry.IsOver && !_isVolatile)
            Try(_confirmRetry, static scheduler => scheduler._confirmation.ConfirmWhenIdle());

        // Only makes later commits faster.
        _writtenBlocks.Observe();
        if (_writtenBlocksRetry.IsOver && !_throttle.IsOverLimit && !_thread.IsStopping && !_engine.Poison.IsPoisoned)
            Try(_writtenBlocksRetry, static scheduler => scheduler._writesMoreBlocks = scheduler._writtenBlocks.WriteWhenQuiet());
    }

    // A step that fails does not keep the others from running: a file that cannot grow can still be flushed to.
    private void Try(RetryPause pause, Action<FlushScheduler> step)
    {
        try
        {
            step(this);
            pause.Clear();
        }
        catch (Exception e) when (e is VoronException or OutOfMemoryException && !_engine.Poison.IsPoisoned && !PlantedFault.StopAtFailedGrowth)
        {
            if (!pause.Failed())
                return;
            if (pause == _growthRetry || pause == _writtenBlocksRetry)
                FlushLog.NoGrowth(_engine.Logger, _engine.Disk.Path, e.Message);
            else if (pause == _journalSnapshotRetry)
                FlushLog.NoJournalSnapshot(_engine.Logger, _engine.Disk.Path, e.Message);
            else if (pause == _confirmRetry)
                FlushLog.NoDurabilityMarker(_engine.Logger, _engine.Disk.Path, e.Message);
            else
                FlushLog.Failed(_engine.Logger, _engine.Disk.Path, e.Message, e);
        }
    }

    private bool ShouldFlush()
    {
        // Lazy commits that are not durable yet have no bytes in the journal, and a flush makes them durable.
        var bytes = UnflushedJournalBytes;
        if (bytes == 0 && !(_engine.Journal!.HasEarlyRecords && _throttle.IsOverLimit))
        {
            _dirtySinceTick = -1;
            return false;
        }

        if (_dirtySinceTick < 0)
            _dirtySinceTick = Environment.TickCount64;

        return (bytes >= _policy.Least && bytes >= _policy.Threshold(UnflushedChanges))
            || UnflushedDirectBytes >= _policy.Usual
            || Environment.TickCount64 - _dirtySinceTick >= _engine.Options.FlushInterval.TotalMilliseconds
            || _engine.Journal!.Reserve.ImageBytes >= _policy.Usual
            || _engine.JournalFiles!.LiveCount > MaxJournalFiles
            || _engine.VersionBytes > _engine.Options.FlushVersionBytes
            || _throttle.IsOverLimit;
    }

    private void FlushNow()
    {
        _engine.Ring.Read(out var newest);
        var written = Volatile.Read(ref _writtenBytes);
        var direct = Volatile.Read(ref _engine.Counters.DirectBytes);
        var changes = Volatile.Read(ref _engine.Counters.PagesChanged);
        var report = _flusher.Flush();
        _engine.Observers.CallElsewhere();
        if (report != null || _engine.Ring.PublishedId == _flusher.CheckpointId)
        {
            written += report?.OwnJournalBytes ?? 0;

            // If a reader held the flush back, one byte stays unflushed, so the age limit flushes the rest once the reader has ended.
            var isInDataFile = _engine.Ring.PublishedId == _flusher.CheckpointId;
            Volatile.Write(ref _flushedAtBytes, isInDataFile ? written : written - 1);
        }

        _dirtySinceTick = Environment.TickCount64;

        // Also when a reader held the flush back: another flush now would get no further.
        _flushedAtDirectBytes = direct;
        _flushedAtPageChanges = changes;

        // Searching for free space is worthwhile only when there is considerably more of it than last time: constantly overwritten data needs its
        // free pages again. The number of free pages at opening does not matter.
        var free = newest.State.PageCount - _engine.Counters.AllocatedPages + _engine.Counters.FreedPages;
        _freeAtReclaim = Math.Min(_freeAtReclaim, free);
        if (free - _freeAtReclaim >= _engine.Layout.PagesPerSection
            && Environment.TickCount64 - _reclaimedAtTick >= _engine.Options.ReclaimInterval.TotalMilliseconds)
        {
            _freeAtReclaim = free;
            _reclaimedAtTick = Environment.TickCount64;
            Reclaim();
        }
    }

    private void Reclaim()
    {
        try
        {
            _reclaim();
            _reclaimRetry.Clear();
        }
        catch (TimeoutException)
        {
            // A long write transaction holds the writer; flushing must not wait for it.
        }
        catch (Exception e) when (e is VoronException or OutOfMemoryException && !_engine.Poison.IsPoisoned)
        {
            // The flush before it has succeeded, and the next one must not be delayed.
            if (_reclaimRetry.Failed())
                FlushLog.NothingReclaimed(_engine.Logger, _engine.Disk.Path, e.Message);
        }
    }

    // At half the limit, enough space is left to continue while the journal snapshot is being written. Another one is written only when more bytes
    // have been written since the last than it would hold or, if that is more than the journal may hold, when the journal is half full again.
    // Small files become too numerous before they hold as many bytes as a flush waits for: then their number alone decides and, beyond a higher
    // number, regardless of the cost of a journal snapshot.
    private bool IsHeldBack()
    {
        if (_flusher.BlockingReader == null || _isVolatile)
            return false;
        var files = _engine.JournalFiles!;
        var half = _engine.Options.JournalLimitBytes / 2;
        var written = Volatile.Read(ref _writtenBytes) - _journalSnapshotAtBytes;
        var cost = Math.Min(_engine.Frames.UsedBytes, half);
        if (files.LiveCount > MaxHeldFiles && !PlantedFault.KeepManyJournals)
            return written > cost || files.LiveCount > MaxHeldAtAnyCost;
        return files.LiveRecordBytes > half && written > Math.Max(cost, _policy.Usual);
    }

    private void WriteJournalSnapshot()
    {
        var written = Volatile.Read(ref _writtenBytes);
        if (_flusher.WriteJournalSnapshot())
            _journalSnapshotAtBytes = written;
    }

    // The file grows ahead of need, so that no commit waits for its growth.
    private void PreallocateAhead()
    {
        var file = _engine.DataFile;
        var capacity = file.CapacityPages;
        _engine.Ring.Read(out var newest);
        var step = GrowthPolicy.NextStep(capacity, _engine.PageSize, _engine.Options.MaxGrowthBytes);
        if (newest.State.PageCount <= file.SettledPages)
            return;
        if (capacity - newest.State.PageCount > GrowthPolicy.PagesAhead(capacity, step) || capacity + step > _engine.DataFile.PageLimit)
            return;

        // If this fails, the transaction that needs the space reports it.
        file.Preallocate(capacity + step);
    }
}
