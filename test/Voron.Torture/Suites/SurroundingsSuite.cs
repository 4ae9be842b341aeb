using Voron.Simulation.Harness;
using Voron.Torture.Surroundings;

namespace Voron.Torture.Suites;

/// <summary>Changes the files of an environment on a real file system, while it is closed, killed or running.</summary>
internal sealed class SurroundingsSuite : Suite
{
    public override string Name => "surroundings";

    public override string Summary => "files removed, renamed, replaced, linked and added beside an environment that is closed, killed or running";

    public override string Unit => "events";

    public override long TestCount => 150;

    public override long FullCount => 100_000;

    public override string? UnfitHere => OperatingSystem.IsWindows() ? "needs links of a POSIX system" : null;

    public override IReadOnlyList<string> NotCovered =>
    [
        "bytes of the engine's files that other programs change while it runs: a map shows them, and only pages that were not used yet are verified",
        "clocks that jump: the engine uses only a clock that counts from the start of the system",
    ];

    public override void Run(SuiteRun run)
    {
        if (UnfitHere is { } reason)
            throw new TortureException($"{Name} {reason}.");
        using var place = new SurroundedPlace(run);
        place.Work();
        var happening = SurroundingEvents.All[run.Choices.Next(SurroundingEvents.All.Count)];
        run.Step(happening.Name);
        happening.Happen(place);
        run.Count();
        run.Tally(happening.Name);
    }
}
