using Voron.Simulation.Harness;
using Voron.Torture.Crashes;

namespace Voron.Torture.Suites;

/// <summary>Cuts the power at every point of random workloads, and again during and after the recovery.</summary>
internal sealed class PowerCutSuite : Suite
{
    private static readonly CrashLevel[] Levels =
    [
        new CrashLevel(8, 28, CrashLevel.All, CrashLevel.All, GoOnOneIn: 60),
        // A hundred transactions, and other steps between them.
        new CrashLevel(130, 150, OpeningCuts: 1, RunningCuts: 4, GoOnOneIn: 3),
        new CrashLevel(3, 10, OpeningCuts: 1, RunningCuts: 2, GoOnOneIn: 0),
    ];

    private static readonly CrashPlan Ordinary = new(Levels) { EveryCombinationOneIn = 24 };

    private static readonly CrashPlan Dropping = Ordinary with { Drops = true };

    private static readonly CrashPlan Recording = Ordinary with { Records = true };

    private static readonly CrashPlan Lazy = Ordinary with { Lazies = true };

    private static readonly CrashPlan Paired = Ordinary with { Pairs = true };

    // Short workloads, but with every cut in every possible combination, as far as the budget goes.
    private static readonly CrashPlan Exhaustive = new(new CrashLevel(2, 4, CrashLevel.All, CrashLevel.All, GoOnOneIn: 0))
    {
        EveryCombinationOneIn = 1,
        MaxCombinations = 1 << 11,
    };

    private static readonly CrashPlan LongExhaustive = new(new CrashLevel(3, 6, CrashLevel.All, CrashLevel.All, GoOnOneIn: 0))
    {
        EveryCombinationOneIn = 1,
        MaxCombinations = 1 << 17,
    };

    // Garbage is possible at a few cuts only.
    private static readonly CrashPlan Repaired = new(Levels) { Disk = CrashDisk.GarbageWithImages, ImagesPerCut = 8 };
    private static readonly CrashPlan Refused = new(Levels) { Disk = CrashDisk.GarbageWithChecksums, ImagesPerCut = 8 };

    public override string Name => "power-cut";

    public override string Summary => "the power cut at every write, sync, rename of a simulated disk, and again during and after recovery; in one of eight runs each, beside dropped trees, beside feeds, with lazy commits, and with commits written two at a time";

    public override string Unit => "images";

    public override long TestCount => 12_000;

    public override long FullCount => 5_000_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "every combination of sectors only where at most 12 can be lost or kept, and else 64 random ones: in most runs of one cut in 24 and "
            + "1,024 images, in one of 16 of all cuts of a few steps until 2,048 images are spent, in one of 128 until 131,072 are; cuts "
            + "after that have two random images each, and are counted as cuts without budget for combinations",
        "sectors that cannot be read after the cut",
    ];

    // A hundred thousand images, each of which is opened, on a busy machine.
    public override TimeSpan RunLimit => TimeSpan.FromMinutes(15);

    public override void Run(SuiteRun run) => CrashRun.Make(run, PlanOf(run.Index));

    private static CrashPlan PlanOf(long index) => (index % 128) switch
    {
        127 => LongExhaustive,
        _ when index % 16 == 7 => Exhaustive,
        _ when index % 8 == 0 => Repaired,
        _ when index % 8 == 1 => Refused,
        _ when index % 8 == 5 => Dropping,
        _ when index % 8 == 3 => Recording,
        _ when index % 8 == 2 => Lazy,
        _ when index % 8 == 4 => Paired,
        _ => Ordinary,
    };
}
