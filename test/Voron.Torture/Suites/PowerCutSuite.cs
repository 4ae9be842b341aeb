using Voron.Torture.Crashes;
using Voron.Torture.Harness;

namespace Voron.Torture.Suites;

/// <summary>The power fails at every point of random workloads, and again while and after what was left is recovered.</summary>
internal sealed class PowerCutSuite : Suite
{
    private static readonly CrashLevel[] Levels =
    [
        new CrashLevel(8, 28, CrashLevel.All, CrashLevel.All, GoOnOneIn: 60),
        new CrashLevel(100, 120, OpeningCuts: 1, RunningCuts: 4, GoOnOneIn: 3),
        new CrashLevel(3, 10, OpeningCuts: 1, RunningCuts: 2, GoOnOneIn: 0),
    ];

    private static readonly CrashPlan Ordinary = new(Levels) { EveryCombinationOneIn = 24 };

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
        "every combination of sectors only where at most 12 can be lost or kept, and of a share of the cuts",
        "sectors that cannot be read after the cut",
    ];

    public override void Run(SuiteRun run) => CrashRun.Make(run, (run.Index % 8) switch
    {
        0 => Repaired,
        1 => Refused,
        _ => Ordinary,
    });
}
