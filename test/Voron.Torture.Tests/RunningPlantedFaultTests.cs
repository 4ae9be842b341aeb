namespace Voron.Torture.Tests;

/// <summary>The faults that are found in a running engine: its threads, limits, times and lifetimes.</summary>
public sealed class RunningPlantedFaultTests(ITestOutputHelper output) : PlantedFaultTests(output)
{
    public static TheoryData<string, string> Names => NamesOf(imageSuites: false);

    [Theory]
    [MemberData(nameof(Names))]
    public void A_planted_fault_is_found(string name, string suite) => Hunt(name, suite);
}
