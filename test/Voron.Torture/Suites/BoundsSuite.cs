using Voron.Simulation.Harness;
using Voron.Torture.Bounds;

namespace Voron.Torture.Suites;

/// <summary>Tests the memory, descriptors, addresses and disk space that an environment uses, where it could easily use too much.</summary>
internal sealed class BoundsSuite : Suite
{
    public override string Name => "bounds";

    public override string Summary => "memory, descriptors, addresses, attempts, snapshots and waits that must not grow with the journal, the store, a failure, repetition or other callers";

    public override string Unit => "cases";

    public override long TestCount => 36;

    public override long FullCount => 10_000;

    // The background flusher makes choices of its own.
    public override bool IsReplayable => false;

    // The cases measure time.
    public override int Threads => 1;

    public override IReadOnlyList<string> NotCovered => ["slow growth, over days", "limits of a real system: the disk and the addresses are simulated"];

    public override void Run(SuiteRun run)
    {
        // The cases take turns: each has to come, however few are requested.
        var bound = BoundCases.All[run.Choices.Choose((int)(run.Index % BoundCases.All.Count), BoundCases.All.Count)];
        run.Step(bound.Name);
        bound.Check(new BoundPlace(run));
        run.Count();
        run.Tally(bound.Name);
    }
}
