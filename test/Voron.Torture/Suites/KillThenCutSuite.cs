using Voron.Simulation.Harness;
using Voron.Torture.Crashes;

namespace Voron.Torture.Suites;

/// <summary>Kills the process, lets the next one see its unsynced writes and build on them, and then cuts the power.</summary>
internal sealed class KillThenCutSuite : Suite
{
    private static readonly CrashPlan Plan = new(
        new CrashLevel(8, 20, OpeningCuts: 1, RunningCuts: 6, GoOnOneIn: 1),
        new CrashLevel(4, 14, OpeningCuts: 3, RunningCuts: 8, GoOnOneIn: 8),
        new CrashLevel(2, 6, OpeningCuts: 2, RunningCuts: 2, GoOnOneIn: 0))
    {
        ImagesPerCut = 2,
        KillsFirst = true,
        Reclaims = true,
    };

    public override string Name => "kill-then-cut";

    public override string Summary => "killed with unsynced writes visible, opened again and worked on, then the power cut; with space returned";

    public override string Unit => "images";

    public override long TestCount => 2_000;

    public override long FullCount => 500_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "a kill is a cut at a call to the disk, and a write under way breaks off at a block: the kill suite covers kills at any instruction",
        "every cut: each level has a few, at random, with two images each; no combinations of sectors in turn",
        "a kill after a power cut: the first crash is a kill, those after it are either",
    ];

    public override void Run(SuiteRun run) => CrashRun.Make(run, Plan with { Records = run.Index % 4 == 3, Pairs = run.Index % 4 == 1 });
}
