using Voron.Simulation.Harness;
using Voron.Torture.Equivalence;

namespace Voron.Torture.Suites;

/// <summary>Runs the same operations under every combination of options that must make no difference.</summary>
internal sealed class EquivalenceSuite : Suite
{
    public override string Name => "equivalence";

    public override string Summary => "one stream of operations under all combinations of options, which must give the same content at each commit";

    public override string Unit => "settings";

    public override long TestCount => 16;

    public override long FullCount => EquivalenceSettings.Count;

    public override long? Runs => EquivalenceSettings.Count;

    public override void Run(SuiteRun run)
    {
        // The stride has no common factor with the count: a few runs cover something of everything, and all runs cover all.
        const int stride = 667;
        var count = EquivalenceSettings.Count;
        var first = (long)((ulong)run.Seed % (ulong)count);
        var number = run.Choices.Choose((int)(((run.Index * stride) + first) % count), count);
        var settings = EquivalenceSettings.Of(number);
        run.Step(settings.ToString());
        using var equivalence = new EquivalenceRun(run, settings, new CommonChoices(run.Choices, run.Seed));
        equivalence.Run();
        run.Count();
    }
}
