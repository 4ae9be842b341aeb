using Voron.Simulation.Harness;
using Voron.Torture.Backups;

namespace Voron.Torture.Suites;

/// <summary>Cuts the power, or kills the process, at any call of backups, copies and restores.</summary>
internal sealed class BackupCutSuite : Suite
{
    public override string Name => "backup-cut";

    public override string Summary => "power cuts and kills at any call of a backup, a copy or a restore: whole, or not believed";

    public override string Unit => "cuts";

    public override long TestCount => 2_000;

    public override long FullCount => 100_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "a backup on another disk than its environment: here both are cut at the same call",
    ];

    public override void Run(SuiteRun run)
    {
        using var backups = new BackupCutRun(run);
        backups.Run();
    }
}
