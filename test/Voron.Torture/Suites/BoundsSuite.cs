using Voron.Torture.Bounds;
using Voron.Torture.Harness;

namespace Voron.Torture.Suites;

/// <summary>What an environment may need of memory, descriptors, addresses and the disk, where more would be easy to take.</summary>
internal sealed class BoundsSuite : Suite
{
    public override string Name => "bounds";

    public override string Summary => "memory, descriptors, addresses, attempts, snapshots and waits that must not grow with the journal, the store, a failure or other callers";

    public override string Unit => "cases";

    public override long TestCount => 26;

    public override long FullCount => 10_000;

    // The background flusher makes choices of its own.
    public override bool IsReplayable => false;

    // Time is measured.
    public override int Threads => 1;

    public override IReadOnlyList<string> NotCovered => ["what grows slowly, over days", "limits of a real system: the disk and the addresses are simulated"];

    public override void Run(SuiteRun run)
    {
        // In turn: each has to come, however few cases are asked for.
        BoundCase bound = BoundCases.All[run.Choices.Choose((int)(run.Index % BoundCases.All.Count), BoundCases.All.Count)];
        run.Step(bound.Name);
        bound.Check(new BoundPlace(run));
        run.Count();
        run.Tally(bound.Name);
    }
}
