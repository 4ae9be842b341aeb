using Voron.Torture.Faults;

namespace Voron.Torture.Tests;

/// <summary>The suites would notice a faulty engine: each fault that can be planted in it is found by one of them.</summary>
/// <remarks>
/// <see cref="SuiteTests"/> checks that they find nothing in a sound engine. Each hunt is a process of its own. There are two classes of
/// hunts, because a test runner runs classes side by side.
/// </remarks>
public abstract class PlantedFaultTests(ITestOutputHelper output)
{
    private const int Seed = 1;

    // Suites that build many stores, one after the other, and need one processor all the time.
    private static readonly string[] ImageSuites =
    [
        "power-cut", "kill-then-cut", "recovery-cut", "upgrade-cut", "copies", "changes", "backup-model", "backup-cut", "compaction",
        "salvage-damage", "bit-rot",
        "malformed", "io-fault", "disk-full", "boundary", "model",
        "index-agreement", "evolve", "feed", "equivalence",
    ];

    protected static TheoryData<string, string> NamesOf(bool imageSuites) => new(
        PlantedFaultCatalog.All.Where(fault => ImageSuites.Contains(fault.Suite) == imageSuites).Select(fault => (fault.Name, fault.Suite)));

    protected void Hunt(string name, string suite)
    {
        var fault = PlantedFaultCatalog.Find(name, suite);
        Assert.SkipWhen(fault.UnfitHere != null, $"{name} {fault.UnfitHere}");
        var outcome = FaultHunt.Run(fault, fault.Seed ?? Seed, fault.First);
        output.WriteLine($"{outcome.Finding ?? outcome.Missed} after {outcome.Cases:N0} cases, {outcome.Seconds:F1} s");
        outcome.Finding.Should().NotBeNull("{0} is planted, and {1} looks at {2} cases; {3}", name, fault.Suite, fault.Count, outcome.Missed);
    }
}
