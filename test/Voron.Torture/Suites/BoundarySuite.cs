using Voron.Simulation.Harness;
using Voron.Torture.Boundaries;

namespace Voron.Torture.Suites;

/// <summary>Tests lengths, counts, places and numbers at their limits, one by one.</summary>
internal sealed class BoundarySuite : Suite
{
    public override string Name => "boundary";

    public override string Summary => "lengths of keys, values and names, full pages, places beyond 2^32 bytes, thousands of trees, the last transaction ids";

    public override string Unit => "limits";

    public override long TestCount => BoundaryCases.All.Count;

    public override long FullCount => BoundaryCases.All.Count;

    public override long? Runs => BoundaryCases.All.Count;

    public override IReadOnlyList<string> NotCovered =>
    [
        "a data file of more than 2^32 bytes on a real file system: the file is in memory, and sparse",
        "a tree of the greatest depth",
        "values of 2 GiB: greatest-value covers them",
    ];

    public override void Run(SuiteRun run)
    {
        (var name, var attempt) = BoundaryCases.All[run.Choices.Choose((int)run.Index, BoundaryCases.All.Count)];
        run.Step(name);
        attempt();
        run.Count();
    }
}
