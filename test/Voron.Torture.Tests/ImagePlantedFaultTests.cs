using Voron.Torture.Faults;

namespace Voron.Torture.Tests;

/// <summary>The faults that are found in the images of stores: after crashes, damage, errors of the disk, or single calls.</summary>
public sealed class ImagePlantedFaultTests(ITestOutputHelper output) : PlantedFaultTests(output)
{
    public static TheoryData<string, string> Names => NamesOf(imageSuites: true);

    [Theory]
    [MemberData(nameof(Names))]
    public void A_planted_fault_is_found(string name, string suite) => Hunt(name, suite);

    [Fact]
    public void Every_switch_of_the_engine_is_in_the_catalogue() =>
        PlantedFaultCatalog.All.Select(fault => fault.Name).Distinct().Should().BeEquivalentTo(PlantedFaultCatalog.Switches);
}
