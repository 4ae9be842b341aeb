using Voron.Torture.Crashes;
using Voron.Torture.Harness;

namespace Voron.Torture.Suites;

/// <summary>The power fails at every point of random workloads, and again while and after what was left is recovered.</summary>
internal sealed class PowerCutSuite : Suite
{
    private static readonly CrashLevel[] Levels =
    [
        new CrashLevel(8, 28, CrashLevel.All, CrashLevel.All, GoOnOneIn: 60),
        // A hundred transactions, and what there is between them.
        new CrashLevel(130, 150, OpeningCuts: 1, RunningCuts: 4, GoOnOneIn: 3),
        new CrashLevel(3, 10, OpeningCuts: 1, RunningCuts: 2, GoOnOneIn: 0),
    ];

    private static readonly CrashPlan Ordinary = new(Levels) { EveryCombinationOneIn = 24 };

    // Short, but with every cut in every combination that there is.
    private static readonly CrashPlan Exhaustive = new(new CrashLevel(3, 6, CrashLevel.All, CrashLevel.All, GoOnOneIn: 0))
    {
        EveryCombinationOneIn = 1,
        MostCombinations = 1 << 15,
    };

    // Garbage can be at few cuts only.
    private static readonly CrashPlan Repaired = new(Levels) { Disk = CrashDisk.GarbageWithImages, ImagesPerCut = 8 };
    private static readonly CrashPlan Refused = new(Levels) { Disk = CrashDisk.GarbageWithChecksums, ImagesPerCut = 8 };

    public override string Name => "power-cut";

    public override string Summary => "the power cut at every write, sync, rename of a simulated disk, and again during and after recovery";

    public override string Unit => "images";

    public override long TestCount => 20_000;

    public override long FullCount => 5_000_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "every combination of sectors only where at most 12 can be lost or kept; in most runs of a share of the cuts, in one of 64 of all",
        "sectors that cannot be read after the cut",
    ];

    public override void Run(SuiteRun run) => CrashRun.Make(run, run.Index % 64 == 63 ? Exhaustive : (run.Index % 8) switch
    {
        0 => Repaired,
        1 => Refused,
        _ => Ordinary,
    });
}
