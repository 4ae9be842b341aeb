using Voron.Simulation.Harness;
using Voron.Torture.Lifetimes;

namespace Voron.Torture.Suites;

/// <summary>Tests objects that may outlive their transaction, a savepoint, or the value that they refer to.</summary>
internal sealed class LifetimesSuite : Suite
{
    public override string Name => "lifetimes";

    public override string Summary => "pending puts, streams, cursors and spans against every call that ends them or undoes the changes that they depend on";

    public override string Unit => "transactions";

    public override long TestCount => 700;

    public override long FullCount => 1_000_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "spans of a write transaction after its next write: a span cannot report that it has ended",
        "two threads in one write transaction, except those of streams that are being put",
    ];

    public override void Run(SuiteRun run)
    {
        using var work = new LifetimeRun(run);
        work.Work(run.Choices.Next(3, 20));
    }
}
