using Voron.Simulation.Harness;
using Voron.Torture.Backups;

namespace Voron.Torture.Suites;

/// <summary>Restores the newest backup of a set, whatever was restored, deleted and dated wrongly before.</summary>
internal sealed class BackupSetSuite : Suite
{
    public override string Name => "backup-set";

    public override string Summary => "sets of backups beside restores to earlier states, wrong clocks and deletions: the newest one is that which was made last";

    public override string Unit => "backups";

    public override long TestCount => 400;

    public override long FullCount => 40_000;

    // The names of files and the times of backups are those of the system.
    public override bool IsReplayable => false;

    public override IReadOnlyList<string> NotCovered =>
        ["sets that several processes use", "files that are moved or deleted by hand", "merged backups"];

    public override void Run(SuiteRun run)
    {
        using var set = new BackupSetRun(run);
        set.Run();
    }
}
