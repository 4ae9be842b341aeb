using Voron.Simulation.Harness;
using Voron.Torture.Sorting;

namespace Voron.Torture.Suites;

/// <summary>Sorts entries outside of trees, and lets the disk, the caller and the memory fail meanwhile.</summary>
internal sealed class SortSuite : Suite
{
    public override string Name => "sort";

    public override string Summary => "external sorts of random entries: right, or refused with a reason, and nothing left";

    public override string Unit => "sorts";

    public override long TestCount => 800;

    public override long FullCount => 200_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "more memory than some MiB, and entries of more than 260 KB",
        "the order of disk calls on several threads: three of four sorts work on one thread",
    ];

    public override void Run(SuiteRun run)
    {
        using var sort = new SortCase(run);
        sort.Run();
    }
}
