using Voron.Simulation.Harness;
using Voron.Torture.ChangeTracking;

namespace Voron.Torture.Suites;

/// <summary>Compares the pages that the engine says have changed between two states with those that have, across crashes.</summary>
internal sealed class ChangesSuite : Suite
{
    public override string Name => "changes";

    public override string Summary => "pages that have changed between two states, across flushes, crashes and openings: none is missing";

    public override string Unit => "comparisons";

    public override long TestCount => 4_000;

    public override long FullCount => 500_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "other threads than a flush, at one of three places within the search for changes: 'schedules' has them",
        "a change log that cannot be written or read: ChangedPageTrackerTests",
    ];

    public override void Run(SuiteRun run)
    {
        using var changes = new ChangeRun(run);
        changes.Run();
    }
}
