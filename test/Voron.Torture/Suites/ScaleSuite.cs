using Voron.Simulation.Harness;
using Voron.Torture.Scale;

namespace Voron.Torture.Suites;

/// <summary>
/// Checks operations that take longer the larger a store is against their limits, in stores of about a gigabyte on a simulated disk.
/// </summary>
internal sealed class ScaleSuite : Suite
{
    private const long Mebibyte = 1 << 20;

    /// <summary>The time that a device takes to free a range: enough of these in a row are a stall that no machine hides.</summary>
    private static readonly TimeSpan PunchTime = TimeSpan.FromMilliseconds(10);

    public override string Name => "scale";

    public override string Summary => "memory, reads and the longest stall of a writer beside verification, scrub, reclaim, opening and recovery";

    public override string Unit => "stores";

    public override long TestCount => 2;

    public override long FullCount => 200;

    // The measurements differ each time.
    public override bool IsReplayable => false;

    public override int Threads => 1;

    public override bool NeedsOwnProcess => true;

    public override IReadOnlyList<string> NotCovered => ["the time that a device takes: values are zeros, which the simulated disk does not keep"];

    public override void Run(SuiteRun run)
    {
        var bytes = (768 + run.Choices.Next(512)) * Mebibyte;
        var trees = 1 + run.Choices.Next(3_000);
        var valueBytes = 1 << (19 + run.Choices.Next(4));
        run.Step($"{bytes} bytes in values of {valueBytes}, {trees} trees");
        using var store = new ScaleRun(bytes, trees, valueBytes, PunchTime);
        foreach (var result in store.Run())
        {
            run.Report(result.ToRow());
            ScaleLimits.Check(result, store.Pages, trees);
        }
        run.Count();
    }
}
