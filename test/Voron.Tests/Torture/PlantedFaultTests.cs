using Voron.Torture.Faults;

namespace Voron.Tests.Torture;

/// <summary>The suites would notice a faulty engine: each fault that can be planted in it is found by one of them.</summary>
/// <remarks><see cref="SuiteTests"/> checks that they find nothing in a sound engine.</remarks>
public sealed class PlantedFaultTests(ITestOutputHelper output)
{
    private const int Seed = 1;

    public static TheoryData<string, string> Names => new(PlantedFaultCatalog.All.Select(fault => (fault.Name, fault.Suite)));

    [Theory]
    [MemberData(nameof(Names))]
    public void A_planted_fault_is_found(string name, string suite)
    {
        var fault = PlantedFaultCatalog.Find(name, suite);
        Assert.SkipWhen(fault.UnfitHere != null, $"{name} {fault.UnfitHere}");
        var outcome = FaultHunt.Run(fault, Seed);
        output.WriteLine($"{outcome.Finding ?? outcome.Missed} after {outcome.Cases:N0} cases, {outcome.Seconds:F1} s");
        outcome.Finding.Should().NotBeNull("{0} is planted, and {1} looks at {2} cases; {3}", name, fault.Suite, fault.Count, outcome.Missed);
    }

    [Fact]
    public void Every_switch_of_the_engine_is_in_the_catalogue() =>
        PlantedFaultCatalog.All.Select(fault => fault.Name).Distinct().Should().BeEquivalentTo(PlantedFaultCatalog.Switches);
}
