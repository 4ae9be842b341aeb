using Voron.Backup;
using Voron.Format;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Testing;
using Voron.Torture.Crashes;

namespace Voron.Torture.Backups;

/// <summary>
/// Backs up one environment again and again, while writes, flushes and everything else come at places within the backup, and restores each backup: it
/// must be whole, and have the content of the transaction that it names.
/// </summary>
internal sealed class BackupModelRun(SuiteRun run) : IDisposable
{
    private const int MaxSteps = 40;

    private static readonly SchedulePlace[] Places =
    [
        SchedulePlace.BackupRenewing, SchedulePlace.BackupReading, SchedulePlace.BackupWriting, SchedulePlace.BackupFinishing,
        SchedulePlace.CollectingChanges, SchedulePlace.VersionsCollected, SchedulePlace.DirectWritesCollected,
    ];

    private readonly Tape _choices = run.Choices;
    private readonly SimulatedDisk _backups = new();
    private readonly List<Made> _made = [];
    private readonly BackedUpStore _store = new(run) { Records = run.Index % 4 == 1 };
    private int _actionsLeft;
    private int _firstOfHistory;
    private bool _releases;

    public void Run()
    {
        if (_choices.Next(8) == 7)
            _store.Options.FormatVersion = (int)JournalFormat.Version1;
        _store.Options.TrackChanges = _choices.Next(8) < 7;
        _store.Open();
        for (var i = 0; ; i++)
        {
            _choices.Mark();
            if (!_choices.GoesOn(i < MaxSteps && !run.Stop.IsCancellationRequested))
                break;
            Step();
        }
    }

    public void Dispose()
    {
        _store.Dispose();
        _backups.Dispose();
    }

    private void Step()
    {
        switch (_choices.Next(14))
        {
            case < 8:
                _store.DoSomething();
                break;
            case < 11:
                BackUp();
                break;
            case 11:
                BackUpDamaged();
                break;
            case 12:
                GoBack();
                break;
            default:
                _store.Reopen();
                CheckBases();
                break;
        }
    }

    private void BackUp()
    {
        var parent = _made.Count > 0 && _choices.Next(3) < 2 ? _made[_choices.Next(_made.Count)] : null;
        var isKnown = parent != null && IsKnown(parent.Report.BackupId);
        var options = new BackupOptions
        {
            Since = parent?.Report.BackupId,
            IsBase = _choices.Next(4) < 3,
            Compress = _choices.Next(2) == 1,
            VerifyValues = _choices.Next(8) == 7,
            UsualHold = _choices.Next(3) == 2 ? TimeSpan.FromHours(1) : TimeSpan.Zero,
            BatchBytes = 4096 << _choices.Next(6),
            IsOnOneThread = true,
        };
        var name = $"{_made.Count}.vback";
        _actionsLeft = _choices.Next(2) == 1 ? 12 : 0;
        _releases = options.UsualHold == TimeSpan.Zero && _store.Options is { TrackChanges: true, FormatVersion: > 1 };
        run.Report($"back up {name}{(parent == null ? "" : $" since {parent.Name}")}, batches of {options.BatchBytes}, hold {options.UsualHold}");
        run.Count();
        BackupReport report;
        SchedulePoint.Current = new ActionsAtPlaces(At);
        try
        {
            var backup = _store.Environment.BackupAsync(_backups, name, options, CancellationToken.None);
            report = Finished(backup.AsTask());
        }
        catch (BackupException e) when (e.Fault == BackupFault.UnknownBase)
        {
            if (isKnown)
                throw new CrashViolationException($"'{parent!.Name}' was known, but cannot be built on: {e.Message}");
            run.Tally("unknown bases");
            return;
        }
        finally
        {
            SchedulePoint.Current = null;
        }

        if (parent != null && !isKnown)
            throw new CrashViolationException($"'{parent.Name}' was not known, but is built on");
        run.Tally(parent == null ? "full" : "incremental");
        run.Tally("pages copied again", report.CopiedAgain);
        run.Tally("pages", report.Pages);
        run.Report(
            $"backup of transaction {report.TransactionId}, {report.Rounds} rounds, {report.CopiedAgain} of {report.Pages} pages again" +
            (report.HeldOneSnapshot ? ", one snapshot" : ""));
        var made = new Made(name, report, parent);
        _made.Add(made);
        CheckRestored(made);
        CheckBases();
        CheckOrder(made);
    }

    // What was committed since a backup, and all that was backed up since, is abandoned: the environment continues from that backup.
    private void GoBack()
    {
        if (_made.Count == 0 || _store.Options.FormatVersion == (int)JournalFormat.Version1)
            return;
        var made = _made[_choices.Next(_made.Count)];
        run.Report($"go back to {made.Name}");
        run.Tally("restores that continued");
        var disk = new SimulatedDisk();
        NamedBackup.Restore(_backups, made.Chain.Select(part => part.Name), made.Report.TransactionId, disk, new RestoreOptions()).Dispose();
        _store.GoBack(disk);
        _firstOfHistory = _made.Count;
    }

    // However many histories have been abandoned, and whatever their transactions and clocks were.
    private void CheckOrder(Made made)
    {
        var entries = _made.Select(part => new BackupSetEntry
        {
            File = part.Name,
            Info = Finished(BackupFile.ReadAsync(BackupSource.OfFile(_backups, part.Name), CancellationToken.None).AsTask()),
        });
        var newest = new BackupLinks(BackupOrder.Sort(entries)).Entries().Last();
        if (newest.Info!.TransactionId != made.Report.TransactionId || _made.FindIndex(part => part.Name == newest.File) < _firstOfHistory)
            throw new CrashViolationException($"after '{made.Name}', '{newest.File}' is taken for the newest backup");
        if (!newest.Chain.SequenceEqual(_made.Single(part => part.Name == newest.File).Chain.Select(part => part.Name)))
            throw new CrashViolationException($"'{newest.File}' is taken to build on {string.Join(", ", newest.Chain)}");
    }

    // A bit is flipped in one page of the file. Either the backup finds that, or the state does not have that page from the file.
    private void BackUpDamaged()
    {
        using var damage = DamagedPage.TryMake(_store, _choices);
        if (damage == null)
            return;
        const string name = "damaged.vback";
        run.Report($"back up with page {damage.Page} damaged");
        run.Count();
        using var disk = new SimulatedDisk();
        try
        {
            var options = new BackupOptions { IsOnOneThread = true, BatchBytes = 4096 << _choices.Next(6) };
            Finished(_store.Environment.BackupAsync(disk, name, options, CancellationToken.None).AsTask());
        }
        catch (CorruptionException e) when (damage.IsNamedIn(e.Message))
        {
            run.Tally("damage found");
            return;
        }

        run.Tally("damage elsewhere");
        using var target = new SimulatedDisk();
        var file = BackupSource.OfFile(disk, name);
        Finished(BackupFile.RestoreAsync([file], target, new RestoreOptions(), CancellationToken.None).AsTask());
    }

    // Other threads, at the places of the backup.
    private void At(SchedulePlace place)
    {
        if (!Places.Contains(place) || _actionsLeft == 0 || _choices.Next(3) == 0)
            return;
        _actionsLeft--;
        run.Report($"at {place}:");
        _store.DoSomething();
        if (place == SchedulePlace.BackupWriting && _releases && !_store.HasReaders)
            CheckFlushGoesOn();
    }

    // While the backup waits for its target, it must not keep a flush from reaching the newest state.
    private void CheckFlushGoesOn()
    {
        _store.Environment.Flush();
        var statistics = _store.Environment.GetStatistics();
        if (statistics.CheckpointTransactionId != statistics.PublishedTransactionId)
        {
            throw new CrashViolationException(
                $"a backup that waits for its target keeps a flush at transaction {statistics.CheckpointTransactionId}; the newest one is {statistics.PublishedTransactionId}");
        }
    }

    private void CheckRestored(Made made)
    {
        using var target = new SimulatedDisk();
        foreach (var part in made.Chain)
            NamedBackup.Check(_store.Environment, _backups, part.Name);
        using var restored = NamedBackup.Restore(
            _backups, made.Chain.Select(part => part.Name), made.Report.TransactionId, target, new RestoreOptions());
        using (var reading = restored.BeginRead())
        {
            if (Content.DigestOf(reading) != _store.DigestAt(reading.TransactionId))
                throw new CrashViolationException($"'{made.Name}' has not the content of transaction {reading.TransactionId}");
        }

        RecordedWork.Check(restored, $"restored from '{made.Name}'");
        if (_choices.Next(4) < 3)
            return;
        using (var writing = restored.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            for (var i = 0; i < 20; i++)
                tree.Put([(byte)i], new byte[5_000]);
            writing.Commit();
        }

        restored.Flush();
        if (restored.Verify() is { IsSound: false } report)
            throw new CrashViolationException($"what was restored from '{made.Name}' is damaged after a write: {report.Problems[0]}");
    }

    private void CheckBases()
    {
        foreach (var made in _made.Skip(_firstOfHistory).Where(made => made.Report.IsBase && !IsKnown(made.Report.BackupId)))
            throw new CrashViolationException($"'{made.Name}' was made a base, and is not known any more");
    }

    private bool IsKnown(Guid backupId) => NamedBackup.IsKnown(_store.Environment, backupId);

    private static T Finished<T>(Task<T> task) => task.GetAwaiter().GetResult();

    /// <summary>A backup that was made.</summary>
    private sealed record Made(string Name, BackupReport Report, Made? Parent)
    {
        /// <summary>The backups that it needs, the full one first.</summary>
        public IEnumerable<Made> Chain => Parent == null ? [this] : Parent.Chain.Append(this);
    }
}
