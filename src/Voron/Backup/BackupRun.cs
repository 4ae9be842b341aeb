using System.Diagnostics;
using Voron.Flushing;
using Voron.Format;
using Voron.Maintenance;
using Voron.Primitives;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Backup;

/// <summary>Makes one backup.</summary>
/// <remarks>
/// <code>
///   opened ─▶ sweep, or the changes since the parent (snapshots S1, S2, ...) ─▶ round 1..n ─▶ last round, under one snapshot Sn
///          ─▶ known as a base ─▶ finished: the backup is Sn
///       └──── cancelled or failed at any step: the target removes what has been made ────┘
/// </code>
/// Each round copies the pages that changed after they were copied. A snapshot is held for about 100 ms, and not while the target or the pace makes
/// the backup wait, so no flush waits longer. The last round is read into memory while its snapshot is held, and written afterwards. It starts when
/// few pages are left, or when rounds no longer shrink; then it may take longer, which the report shows.
/// <para>Reading continues while another thread writes the previous batch.</para>
/// </remarks>
internal sealed class BackupRun : IDisposable
{
    private const int MaxRounds = 8;

    /// <summary>The most page ranges that a message names.</summary>
    private const int MostNamedPages = 16;

    /// <summary>The most bytes that the last round keeps in memory.</summary>
    private const long LastRoundBytes = 64 << 20;

    /// <summary>A round must have fewer pages than the one before by at least one part in this many; otherwise, it is the last.</summary>
    private const int LeastPart = 4;

    /// <summary>The longest time that the last round should take.</summary>
    private static readonly TimeSpan LastRoundTime = TimeSpan.FromMilliseconds(200);

    private readonly Engine _engine;
    private readonly Flusher? _flusher;
    private readonly BackupPlan _plan;
    private readonly IBackupTarget _target;
    private readonly CountedCall _use;
    private readonly CancellationToken _stop;
    private readonly RenewedCopySource _source;
    private readonly BytePace _pace;
    private readonly long _began = Stopwatch.GetTimestamp();
    private PageBatch _batch;
    private PageBatch _other;
    private Task _writing = Task.CompletedTask;
    private TimeSpan _readingTime;
    private long _expectedPages;
    private long _writtenPages;
    private int _rounds;

    /// <param name="engine">The environment.</param>
    /// <param name="flusher">Begins the change log, and adds the backup to it; null to hold one snapshot.</param>
    /// <param name="plan">The content and the pace of the backup.</param>
    /// <param name="target">The target of the backup.</param>
    /// <param name="use">Keeps the environment in use; ended when only the target is left to wait for.</param>
    /// <param name="stop">Cancels the backup.</param>
    /// <exception cref="InvalidOperationException">Too many verifications and backups are running.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    public BackupRun(Engine engine, Flusher? flusher, BackupPlan plan, IBackupTarget target, CountedCall use, CancellationToken stop)
    {
        _engine = engine;
        _flusher = flusher;
        _plan = plan;
        _target = target;
        _use = use;
        _stop = stop;
        _pace = new BytePace(plan.MaxBytesPerSecond);
        _batch = NewBatch();
        _other = NewBatch();
        _source = new RenewedCopySource(engine, engine.ChangedPages, flusher?.ChangeLog, plan.UsualHold, stop);
    }

    private PageCopier Copier => _source.Copier;

    /// <summary>Makes the backup.</summary>
    /// <exception cref="BackupException">The changes since the parent are not known.</exception>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="VoronException">The environment cannot be read, or the target cannot be written.</exception>
    /// <exception cref="OperationCanceledException">The backup was cancelled.</exception>
    public async Task<BackupReport> RunAsync()
    {
        try
        {
            if (_plan.VerifiesValues)
                VerifyValues();
            Begin();
            await CopyAsync().ConfigureAwait(false);
            var firstCopies = Copier.Copied;
            await CopyChangesAsync().ConfigureAwait(false);
            return await FinishAsync(firstCopies).ConfigureAwait(false);
        }
        finally
        {
            // The target must not be removed while a write, which may never return, is running. Its failure has been thrown already, or follows
            // another one.
            _source.End();
            if (!_writing.IsCompleted)
                _use.End();
            await _writing.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    public void Dispose() => _source.Dispose();

    private void Begin()
    {
        if (_plan.Parent is not { } parent)
        {
            _source.BeginFull();
            ExpectPages(Copier.CountUsed());
            return;
        }

        if (_source.TryBeginIncremental(parent.TransactionId))
        {
            ExpectPages(Copier.CountPending());
            return;
        }

        _stop.ThrowIfCancellationRequested();
        throw new BackupException(
            BackupFault.UnknownBase,
            $"The environment in '{_engine.Disk.Path}' no longer knows which pages have changed since backup {parent.BackupId}, because its " +
            "change log has ended. Make a full backup.");
    }

    private void ExpectPages(long pages)
    {
        _expectedPages = pages;
        _target.Expect(pages, _engine.PageSize);
    }

    // Copies all pages of the sweep or round that the copier has begun.
    private async Task CopyAsync()
    {
        for (var goesOn = true; goesOn;)
        {
            // If the changes are no longer known, the renewal restarts the copier from the first page.
            if (!_source.IsHeld || _source.IsHoldOver)
                _source.TryRenew();
            _batch.Clear();
            var began = Stopwatch.GetTimestamp();
            goesOn = Copier.Fill(_batch, _stop);
            _readingTime += Stopwatch.GetElapsedTime(began);
            await WriteBatchAsync().ConfigureAwait(false);
        }

        await WaitForWriteAsync().ConfigureAwait(false);
    }

    private async Task WriteBatchAsync()
    {
        await WaitForWriteAsync().ConfigureAwait(false);
        if (_batch.Pages == 0)
            return;
        var batch = _batch;
        _writing = BeginWrite(batch);
        (_batch, _other) = (_other, _batch);
        var pause = _pace.Count(batch.PageBytes);
        if (pause <= TimeSpan.Zero)
            return;
        Release();
        await Task.Delay(pause, _stop).ConfigureAwait(false);
    }

    private PageBatch NewBatch() => new(_engine.PageSize, _plan.BatchBytes);

    private Task BeginWrite(PageBatch batch)
    {
        if (!_plan.IsOnOneThread)
            return Task.Run(() => WriteAsync(batch), CancellationToken.None);
        if (_source.HoldLeft == TimeSpan.Zero)
            _source.Release();
        return WriteAsync(batch);
    }

    private async Task WriteAsync(PageBatch batch)
    {
        SchedulePoint.Reach(SchedulePlace.BackupWriting);
        await _target.WriteAsync(batch, _stop).ConfigureAwait(false);
        _writtenPages += batch.Pages;
        _plan.Progress?.Report(new BackupProgress(_writtenPages, Math.Max(_writtenPages, _expectedPages), _target.Bytes));
    }

    // Keeps the snapshot for as long as a flush may wait, and no longer.
    private async Task WaitForWriteAsync()
    {
        var left = _source.HoldLeft;
        if (!_writing.IsCompleted && _source.IsHeld && left != Timeout.InfiniteTimeSpan)
        {
            var isOver = left == TimeSpan.Zero
                || await Task.WhenAny(_writing, Task.Delay(left, CancellationToken.None)).ConfigureAwait(false) != _writing;
            if (isOver)
                _source.Release();
        }

        // A target that ignores the cancellation must not keep the snapshot held.
        await _writing.WaitAsync(_stop).ConfigureAwait(false);
    }

    private void Release()
    {
        if (!PlantedFault.HoldWhileWaiting)
            _source.Release();
    }

    // Runs rounds until the remaining pages can be read in one pass.
    private async Task CopyChangesAsync()
    {
        if (_source.HoldsOne)
            return;
        var before = long.MaxValue;
        var isSearched = false;
        while (true)
        {
            var goesOn = _source.TryRenew();
            if (goesOn && !isSearched && Copier.FirstUnknown() >= 0)
            {
                isSearched = true;
                goesOn = Search();
            }

            if (!goesOn)
            {
                await CopyAsync().ConfigureAwait(false);
                (before, isSearched, _rounds) = (long.MaxValue, false, 0);
                if (_source.HoldsOne)
                    return;
                continue;
            }

            var pending = Copier.CountPending();
            if (IsLast(pending, before))
                return;
            before = pending;
            ThrowIfUpgraded();
            _rounds++;
            Copier.BeginRound();
            await CopyAsync().ConfigureAwait(false);
        }
    }

    private bool IsLast(long pending, long before)
    {
        if (_rounds >= MaxRounds - 1 || (before != long.MaxValue && pending > before - before / LeastPart))
            return true;
        var time = _plan.IsOnOneThread || Copier.Copied == 0 ? TimeSpan.Zero : _readingTime * ((double)pending / Copier.Copied);
        return pending * _engine.PageSize <= LastRoundBytes && time <= LastRoundTime;
    }

    // Returns false if the copier has begun to copy all pages again.
    private bool Search()
    {
        var search = new OwnerSearch(Copier, _engine.PageSize, isInOneSlice: false);
        while (!search.Run(_source.Pages, _stop))
        {
            if (!_source.TryRenew())
                return false;
        }

        return true;
    }

    private async Task<BackupReport> FinishAsync(long firstCopies)
    {
        // The snapshot held here is the state of the backup.
        _rounds++;
        Copier.BeginRound();
        var last = new List<PageBatch>();
        await ReadLastAsync(last).ConfigureAwait(false);
        if (Copier.FirstUnknown() >= 0)
            await ResolveAsync(last).ConfigureAwait(false);
        var state = _source.Pages.State;
        ThrowIfUpgraded();
        var used = Copier.TurnIntoUsed();
        _source.End();

        foreach (var batch in last)
        {
            await WaitForWriteAsync().ConfigureAwait(false);
            _writing = BeginWrite(batch);
        }

        await WaitForWriteAsync().ConfigureAwait(false);
        return await CompleteAsync(state, used, firstCopies).ConfigureAwait(false);
    }

    // The backup header, which is already written, names the version and the features of the pages and the state.
    private void ThrowIfUpgraded()
    {
        var format = _engine.Format;
        if (format.Version == _plan.Version && format.Features == _plan.Features)
            return;
        var change = format.Version != _plan.Version
            ? $"was upgraded from format version {_plan.Version} to {format.Version}"
            : $"began to use the feature {format.Features & ~_plan.Features}";
        throw new BackupException(
            BackupFault.FormatChanged,
            $"The environment in '{_engine.Disk.Path}' {change} during the backup, so the backup was not made. Make it again.");
    }

    // Reads the last round into memory. Batches beyond its memory limit are written while the snapshot is held.
    private async Task ReadLastAsync(List<PageBatch> last)
    {
        for (var goesOn = true; goesOn;)
        {
            var batch = NewBatch();
            goesOn = Copier.Fill(batch, _stop);
            if (batch.Pages > 0)
                last.Add(batch);
            if ((long)last.Count * _plan.BatchBytes < LastRoundBytes)
                continue;
            foreach (var full in last)
            {
                _writing = _plan.IsOnOneThread ? WriteAsync(full) : Task.Run(() => WriteAsync(full), CancellationToken.None);
                await _writing.WaitAsync(_stop).ConfigureAwait(false);
            }

            last.Clear();
        }
    }

    // Pages not proven sound: either a tree shows that they belong to a value, or they are damaged.
    private async Task ResolveAsync(List<PageBatch> last)
    {
        var search = new OwnerSearch(Copier, _engine.PageSize, isInOneSlice: true);
        search.Run(_source.Pages, _stop);
        Copier.BeginRound();
        await ReadLastAsync(last).ConfigureAwait(false);
        if (Copier.FirstUnknown() < 0)
            return;

        // A damaged leaf hides the pages of its values, so the damaged page need not be the first one listed.
        throw new CorruptionException(
            $"'{_engine.DataFile.File.Path}' is damaged, so the backup was not made: page {Copier.ListUnknown(MostNamedPages)} is in use, but has no valid checksum, and no tree names it as part of a value." +
            (search.Problem == null ? "" : $" {search.Problem}"));
    }

    private async Task<BackupReport> CompleteAsync(EnvironmentState state, long used, long firstCopies)
    {
        SchedulePoint.Reach(SchedulePlace.BackupFinishing);
        var isBase = !PlantedFault.PointAfterTrailer && TryAddPoint(state);
        var end = new BackupEnd
        {
            State = state,
            Used = Copier.Pending.Bits,
            UsedCount = used,
            Copied = Copier.Copied,
            IsBase = isBase || (PlantedFault.PointAfterTrailer && _plan.IsBase),
        };

        // The target decides whether the backup is complete, even if it is cancelled meanwhile.
        var finishing = _plan.IsOnOneThread ? TargetFinishAsync(end) : Task.Run(() => TargetFinishAsync(end), CancellationToken.None);
        await _use.WaitForUserAsync(finishing, _stop).ConfigureAwait(false);
        if (PlantedFault.PointAfterTrailer && !_stop.IsCancellationRequested)
            isBase = TryAddPoint(state);
        return new BackupReport
        {
            BackupId = System.Runtime.CompilerServices.Unsafe.BitCast<RandomId, Guid>(_plan.BackupId),
            ParentId = _plan.Parent is { } parent ? System.Runtime.CompilerServices.Unsafe.BitCast<RandomId, Guid>(parent.BackupId) : null,
            IsBase = isBase,
            TransactionId = state.TransactionId,
            Time = state.CommitTime == 0 ? null : new DateTimeOffset(state.CommitTime, TimeSpan.Zero),
            Pages = used,
            Bytes = _target.Bytes,
            CopiedAgain = Copier.Copied - firstCopies,
            Rounds = _rounds,
            HeldOneSnapshot = _source.HoldsOne,
            LongestHold = _source.LongestHold,
            Duration = Stopwatch.GetElapsedTime(_began),
        };
    }

    private async Task<bool> TargetFinishAsync(BackupEnd end)
    {
        await _target.FinishAsync(end, _stop).ConfigureAwait(false);
        return true;
    }

    // A point is durable once a flush has reached its state. A reader, a full disk or a failed write may prevent that; the backup itself is
    // not affected.
    private bool TryAddPoint(in EnvironmentState state)
    {
        if (!_plan.IsBase || _source.HoldsOne || _flusher == null)
            return false;
        try
        {
            if (!_flusher.ChangeLog.TryAddPoint(new BackupPoint { BackupId = _plan.BackupId, TransactionId = state.TransactionId }))
                return false;
            if (!_engine.ChangedPages!.IsDurable(_plan.BackupId))
                _flusher.Flush();
        }
        catch (Exception e) when (e is StorageFullException or StorageAccessException or EnvironmentPoisonedException)
        {
            return false;
        }

        return _engine.ChangedPages.IsDurable(_plan.BackupId);
    }

    private void VerifyValues()
    {
        var pace = new ScrubPace(0, new ScrubClock(), _stop);
        var pass = new ScrubPass(_engine, pace);
        _source.RunSlices(pass.RunSlice);
        if (pass.Report.Problems.Count > 0)
        {
            throw new CorruptionException(
                $"The environment in '{_engine.Disk.Path}' is damaged, so no backup was made. {pass.Report.Problems.Count} problems were found; the first one: {pass.Report.Problems[0]}");
        }
    }
}
