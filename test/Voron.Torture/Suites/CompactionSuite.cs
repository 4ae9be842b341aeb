using Voron.Simulation.Harness;
using Voron.Torture.Compactions;

namespace Voron.Torture.Suites;

/// <summary>Compactions beside everything else, with power cuts and kills at any of their calls.</summary>
internal sealed class CompactionSuite : Suite
{
    public override string Name => "compaction";

    public override string Summary => "compactions beside writes, flushes, power cuts and kills: no content changes, each page keeps one owner";

    public override string Unit => "compactions and cuts";

    public override long TestCount => 1_500;

    public override long FullCount => 100_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "other threads at places that are not the compaction's own, which 'schedules' has",
    ];

    public override void Run(SuiteRun run)
    {
        using var compactions = new CompactionCase(run);
        compactions.Run();
    }
}
