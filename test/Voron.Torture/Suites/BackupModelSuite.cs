using Voron.Simulation.Harness;
using Voron.Torture.Backups;

namespace Voron.Torture.Suites;

/// <summary>Restores backups that were made beside writes, flushes and everything else, and compares them with the model.</summary>
internal sealed class BackupModelSuite : Suite
{
    public override string Name => "backup-model";

    public override string Summary => "backups, full and incremental, made beside writes and flushes: each restores the content of its transaction";

    public override string Unit => "backups";

    public override long TestCount => 1_000;

    public override long FullCount => 100_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "other threads at places that are not the backup's own, which 'schedules' has",
        "snapshots that are released because the target is slow, by the clock: they are released before each write, or not at all",
    ];

    public override void Run(SuiteRun run)
    {
        using var backups = new BackupModelRun(run);
        backups.Run();
    }
}
