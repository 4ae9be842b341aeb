using Voron.Simulation.Harness;
using Voron.Torture.Crashes;

namespace Voron.Torture.Suites;

/// <summary>Cuts the power during recovery, during the recovery from that, and during the recovery from that one.</summary>
internal sealed class RecoveryCutSuite : Suite
{
    private static readonly CrashLevel Work = new(6, 16, OpeningCuts: 0, RunningCuts: 1, GoOnOneIn: 1);
    private static readonly CrashLevel Every = new(0, 2, CrashLevel.All, CrashLevel.All, GoOnOneIn: 2);
    private static readonly CrashLevel Some = new(0, 2, OpeningCuts: 2, RunningCuts: 1, GoOnOneIn: 1);

    // Every place of two nested recoveries would make thousands of images of one workload: the three depths take turns.
    private static readonly CrashPlan[] Plans =
    [
        new(Work, Every, Some, Some) { ImagesPerCut = 1 },
        new(Work, Some, Every, Some) { ImagesPerCut = 1 },
        new(Work, Some, Some, Every) { ImagesPerCut = 1 },
    ];

    public override string Name => "recovery-cut";

    public override string Summary => "the power cut, or the process killed, at every call of a recovery and of those after it, three deep";

    public override string Unit => "images";

    public override long TestCount => 2_000;

    public override long FullCount => 500_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "every call of two or three nested recoveries: for each workload one depth covers every call, in turn, and the others one to three",
        "more than one image of a cut: lost, kept, mixed, one certain combination, or a kill, by chance",
        "garbage in the data file of an environment without images: power-cut covers that at the first depth",
    ];

    public override void Run(SuiteRun run) => CrashRun.Make(run, Plans[run.Index % Plans.Length] with { Records = run.Index % 4 == 3 });
}
