using Voron.Simulation.Harness;

namespace Voron.Torture.Tests;

/// <summary>A suite whose runs execute the code that a test gives them.</summary>
internal sealed class ScriptedSuite(Action<SuiteRun> body) : Suite
{
    public override string Name => "scripted";

    public override string Summary => "what a test says";

    public override long TestCount => 1;

    public override long FullCount => long.MaxValue;

    public override int Threads => 1;

    public override TimeSpan RunLimit => Limit;

    public TimeSpan Limit { get; init; } = TimeSpan.FromSeconds(30);

    public override void Run(SuiteRun run) => body(run);
}
