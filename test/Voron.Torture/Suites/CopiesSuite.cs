using Voron.Simulation.Harness;
using Voron.Torture.Copies;

namespace Voron.Torture.Suites;

/// <summary>Combines files of two moments of one environment, in every subset and interleaving, and copies made while it runs.</summary>
internal sealed class CopiesSuite : Suite
{
    public override string Name => "copies";

    public override string Summary => "files of different moments of one environment put together: one of the committed states, or refused";

    public override string Unit => "copies";

    public override long TestCount => 4_000;

    public override long FullCount => 2_000_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "every subset: of two moments with at most five files all mixtures, of others 40 random ones, and as many with files left out",
        "a data file that changes while it is copied, but after the header and before the journal files",
        "files of more than two copies of different environments, or of two histories that began with the same copy",
    ];

    public override void Run(SuiteRun run) => new CopyRun(run).Run();
}
