using Voron.Torture.Crashes;
using Voron.Torture.Harness;

namespace Voron.Torture.Suites;

/// <summary>The power fails at every point of random workloads, and again while and after what was left is recovered.</summary>
internal sealed class PowerCutSuite : Suite
{
    public override string Name => "power-cut";

    public override string Summary => "the power cut at every write, sync, rename of a simulated disk, and again during and after recovery";

    public override string Unit => "images";

    public override long TestCount => 20_000;

    public override long FullCount => 5_000_000;

    public override void Run(SuiteRun run)
    {
        CrashDisk disk = (run.Index % 8) switch
        {
            0 => CrashDisk.GarbageWithImages,
            1 => CrashDisk.GarbageWithChecksums,
            _ => CrashDisk.Any,
        };
        var counts = new CrashCounts();
        try
        {
            new CrashChecker(run.Choices, counts) { Disk = disk }.Run(run.Choices.Next(8, 28));
        }
        finally
        {
            counts.AddTo(run);
        }
    }
}
