using Voron.ChangeTracking;
using Voron.Flushing;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Backup;

/// <summary>
/// The source of a backup: a snapshot that is renewed, and the change log that shows which pages must be copied again after a renewal.
/// </summary>
/// <remarks>
/// Without a change log, the first snapshot is held to the end. If the log ends during the backup, all pages are copied once more, with a new log,
/// or, if that one ends as well, under a single snapshot.
/// </remarks>
internal sealed class RenewedCopySource : IDisposable
{
    private static readonly TimeSpan WriterPatience = TimeSpan.FromSeconds(5);

    private readonly ChangedPageTracker? _changedPages;
    private readonly TimeSpan _usualHold;
    private readonly CancellationToken _stop;
    private readonly ChangeLogKeeper? _log;
    private readonly RenewedSnapshot _snapshot;
    private long _collectedUpTo = -1;
    private bool _hasBegunAgain;

    /// <param name="engine">The environment, which the caller keeps in use.</param>
    /// <param name="changes">The changed pages; null when the environment is open for reading only.</param>
    /// <param name="log">Begins the change log; null for none.</param>
    /// <param name="usualHold">The time after which a snapshot is renewed.</param>
    /// <param name="stop">Cancels a wait for the writer.</param>
    /// <exception cref="InvalidOperationException">Too many verifications and backups are running.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory for the bits of all pages.</exception>
    public RenewedCopySource(ReadingEngine engine, ChangedPageTracker? changes, ChangeLogKeeper? log, TimeSpan usualHold, CancellationToken stop)
    {
        _usualHold = usualHold;
        _stop = stop;
        _changedPages = changes;
        _log = log;
        _snapshot = new RenewedSnapshot(engine);
        try
        {
            Copier = new PageCopier(engine);
        }
        catch
        {
            _snapshot.Dispose();
            throw;
        }
    }

    public PageCopier Copier { get; }

    /// <summary>The pages of the snapshot; valid while <see cref="IsHeld"/>.</summary>
    public Snapshots.SnapshotPages Pages => _snapshot.Pages;

    public bool IsHeld => _snapshot.IsHeld;

    /// <summary>True if there is no change log: the first snapshot is held to the end.</summary>
    public bool HoldsOne { get; private set; }

    /// <summary>True if the snapshot has been held as long as a flush should wait.</summary>
    public bool IsHoldOver => !HoldsOne && _snapshot.Age >= _usualHold;

    /// <summary>The time that the snapshot may still be held while the target is busy; zero if none.</summary>
    public TimeSpan HoldLeft
    {
        get
        {
            if (HoldsOne || PlantedFault.HoldWhileWaiting)
                return Timeout.InfiniteTimeSpan;
            var left = _usualHold - _snapshot.Age;
            return left > TimeSpan.Zero ? left : TimeSpan.Zero;
        }
    }

    public TimeSpan LongestHold => _snapshot.LongestHold;

    /// <summary>Runs work in slices, each with a newer snapshot, until it returns true.</summary>
    public void RunSlices(Func<Snapshots.SnapshotPages, bool> slice)
    {
        for (var isDone = false; !isDone;)
        {
            _snapshot.Take();
            isDone = slice(_snapshot.Pages);
            _snapshot.Release();
        }
    }

    /// <summary>Takes the first snapshot, for a backup of all pages.</summary>
    /// <exception cref="VoronException">The environment cannot be used.</exception>
    public void BeginFull()
    {
        HoldsOne = !TryBeginLog();
        Take();
        Copier.BeginSweep();
    }

    /// <summary>Takes the first snapshot, for a backup of the pages changed since another one.</summary>
    /// <returns>False if the changes since that backup are not known.</returns>
    public bool TryBeginIncremental(long since)
    {
        Take();
        Copier.TakeAllForKnown();
        if (_changedPages is { } changes && Copier.TryCollect(changes, since))
        {
            Copier.BeginRound();
            return true;
        }

        Release();
        return false;
    }

    /// <summary>
    /// Takes a newer snapshot, and marks the pages changed since the last one as pending. Does nothing if one snapshot is held to the end.
    /// </summary>
    /// <returns>False if the changes are no longer known: the copier has begun to copy all pages again.</returns>
    public bool TryRenew()
    {
        if (HoldsOne)
            return true;
        Release();
        SchedulePoint.Reach(SchedulePlace.BackupRenewing);
        var since = _collectedUpTo;
        Take();
        if (since == Pages.Id || Copier.TryCollect(_changedPages!, since))
            return true;

        Release();
        HoldsOne = _hasBegunAgain || !TryBeginLog();
        _hasBegunAgain = true;
        Take();
        Copier.BeginSweep();
        return false;
    }

    /// <summary>Releases the snapshot, unless it is held to the end.</summary>
    public void Release()
    {
        if (!HoldsOne)
            _snapshot.Release();
    }

    /// <summary>Releases the snapshot after all copying. The environment is not used from then on.</summary>
    public void End() => _snapshot.Dispose();

    public void Dispose()
    {
        Copier.Dispose();
        _snapshot.Dispose();
    }

    private void Take()
    {
        _snapshot.Take();
        Copier.Use(_snapshot.Pages);
        _collectedUpTo = _snapshot.Pages.Id;
    }

    // A backup also works without a log, but delays the flusher.
    private bool TryBeginLog()
    {
        try
        {
            return _log?.TryBegin(WriterPatience, _stop) == true;
        }
        catch (Exception e) when (e is StorageAccessException or StorageFullException or EnvironmentPoisonedException)
        {
            return false;
        }
    }
}
