using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.Backups;
using Voron.Torture.Crashes;

namespace Voron.Torture.Schedules;

/// <summary>
/// The backups that a schedule makes. They are checked when its threads have ended: restoring them would add thousands of places to it.
/// </summary>
internal sealed class ScheduledBackups : IDisposable
{
    private const int PageBytes = 4096;
    private const int MaxBatchPages = 16;

    private readonly SimulatedDisk _disk = new();
    private readonly List<ScheduledBackup> _made = [];
    private int _begun;

    /// <summary>True while the threads of the script run.</summary>
    public bool IsConcurrent { get; set; }

    /// <summary>The backups that were made, in the order in which they were finished.</summary>
    public IReadOnlyList<ScheduledBackup> Made => _made;

    /// <summary>The newest backup that others can build on; null if there is none.</summary>
    public ScheduledBackup? Base => _made.FindLast(made => made.Report.IsBase);

    /// <summary>The names of the backups that are finished.</summary>
    public IReadOnlyList<string> Names =>
        [.. _disk.List().Select(entry => entry.Name).Where(name => name.EndsWith(".vback", StringComparison.Ordinal))];

    /// <summary>Makes a backup on the calling thread.</summary>
    /// <param name="environment">The environment.</param>
    /// <param name="parent">The backup that it builds on; null for a full one.</param>
    /// <param name="scripted">The bits of its keys and its times choose how often the snapshot is renewed.</param>
    /// <param name="stop">Cancels the backup.</param>
    public async ValueTask<ScheduledBackup> MakeAsync(
        StorageEnvironment environment, ScheduledBackup? parent, Scripted scripted, CancellationToken stop)
    {
        var options = new BackupOptions
        {
            Since = parent?.Report.BackupId,
            Compress = false,
            UsualHold = (scripted.Keys & 1) != 0 ? TimeSpan.Zero : TimeSpan.FromDays(1),
            BatchBytes = PageBytes * Math.Max(1, MaxBatchPages >> (2 * (scripted.Times - 1))),
            IsOnOneThread = true,
        };
        var name = $"{_begun++}.vback";
        var report = await environment.BackupAsync(_disk, name, options, stop).ConfigureAwait(false);
        var made = new ScheduledBackup(name, report, parent, IsConcurrent);
        _made.Add(made);
        return made;
    }

    /// <summary>Checks backups that were finished at some time, and the environment as it was then.</summary>
    /// <param name="environment">The environment, opened again.</param>
    /// <param name="names">The names of these backups.</param>
    public void CheckNamed(StorageEnvironment environment, IReadOnlyList<string> names)
    {
        foreach (var name in names)
        {
            // A call that failed after its backup had its name has left no report.
            if (_made.Find(made => made.Name == name) is not { } known)
                NamedBackup.Check(environment, _disk, name);
            else if (known.Report.IsBase && !NamedBackup.IsKnown(environment, known.Report.BackupId))
                throw new CrashViolationException($"'{name}' was made a base, and is not known any more");
        }
    }

    /// <summary>
    /// Restores the backups, and compares each with the state of its transaction. One that was made before the threads began is restored together
    /// with those that build on it.
    /// </summary>
    public void CheckRestored(ScheduleModel model)
    {
        foreach (var made in _made.Where(made => made.IsConcurrent || !_made.Exists(other => other.Parent == made)))
        {
            using var target = new SimulatedDisk();
            using var restored = NamedBackup.Restore(
                _disk, made.Chain.Select(part => part.Name), made.Report.TransactionId, target, new RestoreOptions { VerifyRestored = false });
            var report = restored.Verify();
            BrokenPromiseException.Require(report.IsSound, $"'{made.Name}', restored: {report}");
            using var reading = restored.BeginRead();
            model.CheckAll(reading, $"'{made.Name}', restored,");
        }
    }

    /// <summary>
    /// Makes another backup of what has changed since the last one: nothing that the threads have changed may be missing from the log.
    /// </summary>
    /// <param name="environment">The environment, opened again.</param>
    public void MakeLast(StorageEnvironment environment)
    {
        IsConcurrent = false;
        if (Base is not { } parent)
            return;
        var task = MakeAsync(environment, parent, new Scripted(ScriptedKind.BackupChanges), CancellationToken.None);
        task.AsTask().GetAwaiter().GetResult();
    }

    public void Dispose() => _disk.Dispose();
}

/// <summary>A backup that was made.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Report">What the environment says of it.</param>
/// <param name="Parent">The backup that it builds on; null for a full one.</param>
/// <param name="IsConcurrent">True if the threads of the script ran meanwhile.</param>
internal sealed record ScheduledBackup(string Name, BackupReport Report, ScheduledBackup? Parent, bool IsConcurrent)
{
    /// <summary>The backups that it needs, the full one first.</summary>
    public IEnumerable<ScheduledBackup> Chain => Parent is null ? [this] : Parent.Chain.Append(this);
}
