using Voron.Simulation.Harness;
using Voron.Torture.Crashes;

namespace Voron.Torture.Suites;

/// <summary>Cuts the power while an environment of the oldest format version becomes one of the newest, before and after.</summary>
internal sealed class UpgradeCutSuite : Suite
{
    private static readonly CrashPlan Plan = new(
        new CrashLevel(4, 20, CrashLevel.All, CrashLevel.All, GoOnOneIn: 30),
        new CrashLevel(3, 12, OpeningCuts: 2, RunningCuts: 6, GoOnOneIn: 10),
        new CrashLevel(3, 10, OpeningCuts: 1, RunningCuts: 2, GoOnOneIn: 0))
    {
        Upgrades = true,
        EveryCombinationOneIn = 24,
    };

    public override string Name => "upgrade-cut";

    public override string Summary => "the power cut before, while and after an environment of an older format version becomes one of the newest";

    public override string Unit => "images";

    public override long TestCount => 4_000;

    public override long FullCount => 500_000;

    public override TimeSpan RunLimit => TimeSpan.FromMinutes(15);

    public override void Run(SuiteRun run) => CrashRun.Make(run, Plan with { Records = run.Index % 4 == 3 });
}
