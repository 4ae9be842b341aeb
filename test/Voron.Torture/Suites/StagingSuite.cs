using Voron.Simulation.Harness;
using Voron.Torture.Staging;

namespace Voron.Torture.Suites;

/// <summary>Uploads values without the writer, beside everything that could take their pages away or leave them behind.</summary>
internal sealed class StagingSuite : Suite
{
    public override string Name => "staging";

    public override string Summary =>
        "values uploaded without the writer beside transactions, savepoints, group commits, flushes, returned space, readers, kills and power cuts";

    public override string Unit => "steps";

    public override long TestCount => 4_000;

    public override long FullCount => 2_000_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "uploads on several threads at once: the tests of staging and slow-io have these",
        "a power cut within an upload: power-cut has these",
    ];

    public override void Run(SuiteRun run)
    {
        using var work = new StagingRun(run);
        work.Work(run.Choices.Next(20, 120));
    }
}
