using Voron.Simulation.Harness;
using Voron.Torture.Crashes;

namespace Voron.Torture.Suites;

/// <summary>Cuts the power, or kills the process, at every point of workloads that load trees in bulk beside everything else.</summary>
internal sealed class LoadCutSuite : Suite
{
    private static readonly CrashPlan Cut = new(
        new CrashLevel(8, 28, CrashLevel.All, CrashLevel.All, GoOnOneIn: 60),
        new CrashLevel(30, 60, OpeningCuts: 1, RunningCuts: 4, GoOnOneIn: 3),
        new CrashLevel(3, 10, OpeningCuts: 1, RunningCuts: 2, GoOnOneIn: 0))
    {
        Loads = true,
        EveryCombinationOneIn = 24,
    };

    public override string Name => "load-cut";

    public override string Summary => "the power cut, or the process killed, at every point of bulk loads beside transactions, flushes and readers";

    public override string Unit => "images";

    public override long TestCount => 4_000;

    public override long FullCount => 1_000_000;

    public override IReadOnlyList<string> NotCovered => ["loads that sort", "loads larger than the memory of their pages"];

    // As in the suite of power cuts.
    public override TimeSpan RunLimit => TimeSpan.FromMinutes(15);

    public override void Run(SuiteRun run) => CrashRun.Make(run, (run.Index % 4) switch
    {
        1 => Cut with { Drops = true },
        2 => Cut with { KillsFirst = true },
        _ => Cut,
    });
}
