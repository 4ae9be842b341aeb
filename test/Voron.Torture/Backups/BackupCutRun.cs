using Voron.Backup;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.Crashes;

namespace Voron.Torture.Backups;

/// <summary>
/// Cuts the power, or kills the process, at any call of a backup, of a copy and of a restore. A backup that has its name must be whole, and known
/// to the
/// environment as what it says it is. A directory must have a whole environment, or one that no opening takes for an environment.
/// </summary>
internal sealed class BackupCutRun(SuiteRun run) : IDisposable
{
    private const int MaxCuts = 40;
    private const string Full = "full.vback";
    private const string Changes = "changes.vback";

    private readonly Tape _choices = run.Choices;
    private readonly BackedUpStore _store = new(run) { Records = run.Index % 4 == 1 };
    private readonly List<SimulatedDisk> _targets = [];
    private BackupReport _full = null!;
    private int _fullBegan;
    private int _fullEnded;

    public void Run()
    {
        _store.Open();
        Work();
        _fullBegan = _store.Disk.TraceCount;
        _full = BackUp(Full, since: null);
        _fullEnded = _store.Disk.TraceCount;
        Work();
        var changes = BackUp(Changes, _full.BackupId);
        var digest = _store.DigestAt(changes.TransactionId);
        var restored = new SimulatedDisk { MapsSeeUnbufferedWrites = _choices.Next(2) == 1 };
        _targets.Add(restored);
        run.Report("restore");
        BackupSource[] files = [BackupSource.OfFile(_store.Disk, Full), BackupSource.OfFile(_store.Disk, Changes)];
        var options = new RestoreOptions { VerifyRestored = _choices.Next(2) == 1 };
        Finished(BackupFile.RestoreAsync(files, restored, options, CancellationToken.None).AsTask());
        var copied = new SimulatedDisk { MapsSeeUnbufferedWrites = _choices.Next(2) == 1 };
        _targets.Add(copied);
        run.Report("copy");
        Finished(_store.Environment.CopyToAsync(copied, null, CancellationToken.None).AsTask());

        CutSource();
        CutTarget(restored, digest, "restore");
        CutTarget(copied, digest, "copy");
    }

    public void Dispose()
    {
        _store.Dispose();
        foreach (var target in _targets)
            target.Dispose();
    }

    private void Work()
    {
        var steps = _choices.Next(2, 8);
        for (var i = 0; i < steps; i++)
        {
            _choices.Mark();
            _store.Write();
            if (_choices.Next(3) == 2)
                _store.Environment.Flush();
        }
    }

    private BackupReport BackUp(string name, Guid? since)
    {
        var options = new BackupOptions
        {
            Since = since,
            Compress = _choices.Next(2) == 1,
            UsualHold = TimeSpan.Zero,
            BatchBytes = 4096 << _choices.Next(6),
            IsOnOneThread = true,
        };
        run.Report($"back up {name}");
        return Finished(_store.Environment.BackupAsync(_store.Disk, name, options, CancellationToken.None).AsTask());
    }

    private void CutSource()
    {
        var images = new CrashImages(_store.Disk);
        ForEachCut(_fullBegan, _store.Disk.TraceCount, (cut, isKill) =>
        {
            using var disk = Image(images, cut, isKill);
            using var environment = StorageEnvironment.Open(disk, _store.Options);
            foreach (var name in new[] { Full, Changes })
            {
                if (disk.FileOf(name) >= 0)
                    NamedBackup.Check(environment, disk, name);
            }

            if (cut >= _fullEnded && disk.FileOf(Full) < 0)
                throw new CrashViolationException("a backup that was made is gone");
            CheckSecond(environment, disk);
        });
    }

    // What an interrupted backup has left must not be in the way of the next one.
    private static void CheckSecond(StorageEnvironment environment, SimulatedDisk disk)
    {
        if (disk.FileOf(Full) >= 0)
            return;
        Finished(environment.BackupAsync(disk, Full, new BackupOptions { IsOnOneThread = true }, CancellationToken.None).AsTask());
        if (disk.List().Any(entry => entry.Name.EndsWith(FileOutput.UnfinishedSuffix, StringComparison.Ordinal) && entry.Length > 0))
            throw new CrashViolationException("what an interrupted backup has left was not deleted by the next one of its name");
    }

    private void CutTarget(SimulatedDisk disk, ulong digest, string what)
    {
        var images = new CrashImages(disk);
        ForEachCut(0, disk.TraceCount + 1, (cut, isKill) =>
        {
            using var image = Image(images, cut, isKill);
            var hasHeader = image.FileOf(HeaderFile.FileName) >= 0;
            if (cut == disk.TraceCount && !hasHeader)
                throw new CrashViolationException($"a {what} that was finished has no header");
            var mustBeRefused = !hasHeader && image.List().Count > 0;
            try
            {
                using var environment = StorageEnvironment.Open(image, new StorageOptions { BackgroundFlush = false });
                if (mustBeRefused)
                    throw new CrashViolationException($"a {what} that was not finished was opened");
                if (hasHeader)
                    CheckContent(environment, digest, what);
            }
            catch (CorruptionException e) when (mustBeRefused)
            {
                if (!e.Message.Contains(HeaderFile.UnfinishedCopyName, StringComparison.Ordinal))
                    throw new CrashViolationException($"an unfinished {what} was refused for another reason: {e.Message}");
            }
        });
    }

    private static void CheckContent(StorageEnvironment environment, ulong digest, string what)
    {
        if (environment.Verify() is { IsSound: false } report)
            throw new CrashViolationException($"a {what} is damaged: {report.Problems[0]}");
        using var reading = environment.BeginRead();
        if (Content.DigestOf(reading) != digest)
            throw new CrashViolationException($"a {what} has other content");
        RecordedWork.Check(environment, $"in a {what}");
    }

    private void ForEachCut(int first, int end, Action<int, bool> examine)
    {
        for (var i = 0; ; i++)
        {
            var drawn = _choices.Drawn.Count;
            _choices.Mark();
            if (!_choices.GoesOn(i < MaxCuts && !run.Stop.IsCancellationRequested))
                return;

            // Most of the interesting calls are at the end.
            var last = Math.Min(end - first, 24);
            var cut = _choices.Next(2) == 1 ? end - 1 - _choices.Next(last) : first + _choices.Next(end - first);
            var isKill = _choices.Next(3) == 2;
            run.Report($"{(isKill ? "kill" : "power cut")} after call {cut} of {end - 1}");
            run.Count();
            examine(cut, isKill);
            _choices.Forget(drawn);
        }
    }

    private SimulatedDisk Image(CrashImages images, int cut, bool isKill) => isKill ? images.BuildKilled(cut, _choices) : images.Build(cut, _choices);

    private static T Finished<T>(Task<T> task) => task.GetAwaiter().GetResult();
}
