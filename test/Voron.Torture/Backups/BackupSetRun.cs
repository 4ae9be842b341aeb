using Voron.Backup;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.Crashes;
using Voron.Torture.Feeds;

namespace Voron.Torture.Backups;

/// <summary>
/// A set of backups of one environment, which is restored to earlier states, whose clock is wrong at times, and whose old backups are deleted at any
/// moment: each backup can be restored, and the newest one is that which was made last.
/// </summary>
internal sealed class BackupSetRun : IDisposable
{
    private const int MaxSteps = 24;

    private static readonly TimeSpan Wrong = TimeSpan.FromDays(40_000);

    private readonly SuiteRun _run;
    private readonly Tape _choices;
    private readonly string _directory = Directory.CreateTempSubdirectory("voron-set-").FullName;
    private readonly StepClock _clock = new();
    private readonly BackupSet _set;

    // What each backup has.
    private readonly Dictionary<Guid, long> _numbers = [];
    private SimulatedDisk _disk = new();
    private StorageEnvironment _environment;
    private long _written;
    private long _number;
    private long? _last;
    private int _restored;
    private DateTimeOffset _seen;

    public BackupSetRun(SuiteRun run)
    {
        _run = run;
        _choices = run.Choices;
        _set = BackupSet.Open(Path.Combine(_directory, "set"));
        _environment = Open();
    }

    public void Run()
    {
        Put();
        for (var i = 0; ; i++)
        {
            _choices.Mark();
            if (!_choices.GoesOn(i < MaxSteps && !_run.Stop.IsCancellationRequested))
                break;

            // The times of backups are those of the system: if its clock is set back, the backup that was made last need not be the newest.
            var now = DateTimeOffset.UtcNow;
            if (now < _seen)
                return;
            _seen = now;
            Step();
        }

        Check();
    }

    public void Dispose()
    {
        _environment.Dispose();
        _disk.Dispose();
        TemporaryPlace.Delete(_directory);
    }

    private void Step()
    {
        switch (_choices.Next(12))
        {
            case < 4:
                Put();
                break;
            case < 8:
                BackUp();
                break;
            case 8:
                Prune();
                break;
            case 9:
                _run.Report("the clock is wrong");
                _clock.Advance(Wrong);
                Put();
                _clock.Advance(-Wrong);
                break;
            case 10:
                GoBack();
                break;
            default:
                _run.Report("reopen");
                _environment.Dispose();
                _environment = Open();
                break;
        }
    }

    private void Put()
    {
        _clock.Advance(TimeSpan.FromSeconds(1));
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        tree.Put("number"u8, BitConverter.GetBytes(_number = ++_written));
        tree.Put([(byte)_choices.Next(8)], SeededBytes.Make((int)_written, _choices.Next(30_000)));
        writing.Commit();
    }

    private void BackUp()
    {
        var kind = (BackupKind)_choices.Next(2);
        var prunesAt = _choices.Next(3);
        var options = new BackupOptions
        {
            IsBase = _choices.Next(3) < 2,
            Progress = new Progress<BackupProgress>(() =>
            {
                if (prunesAt-- == 0)
                    Prune();
            }),
        };
        _run.Report($"back up, {kind}, base: {options.IsBase}");
        _run.Count();
        var report = Finished(_set.BackupAsync(_environment, kind, options));
        _run.Tally(report.ParentId == null ? "full" : "incremental");
        _numbers.Add(report.BackupId, _number);
        _last = _number;
        Check();
    }

    private void Prune()
    {
        var report = Finished(_set.PruneAsync(keepFull: 1 + _choices.Next(2)));
        _run.Report($"  prune {report.Deleted.Count} of {report.Deleted.Count + report.Kept.Count}");
        _run.Tally("pruned", report.Deleted.Count);
    }

    // A backup of the history that is current, or of an abandoned one.
    private void GoBack()
    {
        var usable = Entries().Where(entry => entry.Chain.Count > 0).ToList();
        if (usable.Count == 0)
            return;
        var entry = usable[_choices.Next(usable.Count)];
        _run.Report($"go back to {_numbers[entry.Info!.BackupId]}");
        _run.Tally("restores that continued");
        _environment.Dispose();
        _disk.Dispose();
        _disk = new SimulatedDisk();
        Finished(BackupFile.RestoreAsync([.. entry.Chain.Select(BackupSource.OfFile)], _disk, new RestoreOptions(), CancellationToken.None));
        _environment = Open();
        _number = NumberIn(_environment);
        if (_number != _numbers[entry.Info.BackupId])
            throw new CrashViolationException($"a backup of {_numbers[entry.Info.BackupId]} restores {_number}");
    }

    private void Check()
    {
        if (Entries().FirstOrDefault(entry => entry.Problem != null) is { } lost)
            throw new CrashViolationException($"a backup of the set cannot be restored: {lost.Problem}");
        if (_last is not { } last)
            return;
        var directory = Path.Combine(_directory, $"{_restored++}");
        var prunesAt = _choices.Next(2);
        var options = new RestoreOptions
        {
            Progress = new Progress<RestoreProgress>(() =>
            {
                if (prunesAt-- == 0)
                    Prune();
            }),
        };
        Finished(_set.RestoreAsync(directory, _choices.Next(2) == 0 ? null : DateTimeOffset.UtcNow, options));
        using (var restored = StorageEnvironment.Open(directory, new StorageOptions { ReadOnly = true }))
        {
            if (NumberIn(restored) is var number && number != last)
                throw new CrashViolationException($"the newest backup has {last}, and a restore of the newest has {number}");
        }

        TemporaryPlace.Delete(directory);
    }

    private IReadOnlyList<BackupSetEntry> Entries() => Directory.Exists(_set.Directory) ? Finished(_set.ListAsync()) : [];

    private StorageEnvironment Open() =>
        StorageEnvironment.Open(_disk, new StorageOptions { BackgroundFlush = false, CommitClock = _clock });

    private static long NumberIn(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return BitConverter.ToInt64(reading.OpenTree("t").Get("number"u8));
    }

    private static T Finished<T>(ValueTask<T> task) => task.AsTask().GetAwaiter().GetResult();

    private sealed class Progress<T>(Action call) : IProgress<T>
    {
        public void Report(T value) => call();
    }
}
