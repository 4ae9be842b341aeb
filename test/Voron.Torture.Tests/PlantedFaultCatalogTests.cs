using System.Text.RegularExpressions;
using Voron.Torture.Faults;

namespace Voron.Torture.Tests;

/// <summary>
/// Each switch is planted, hunted by a suite and documented. <c>scripts/hunt-faults.sh</c> shows that the suites find them.
/// </summary>
public sealed partial class PlantedFaultCatalogTests
{
    [Fact]
    public void Every_switch_is_in_the_catalogue() =>
        PlantedFaultCatalog.All.Select(fault => fault.Name).Distinct().Should().BeEquivalentTo(PlantedFaultCatalog.Switches);

    [Fact]
    public void Every_switch_of_the_engine_is_planted()
    {
        // In the engine, or in the reads of a suite that checks what readers see.
        string[] places = ["src/Voron", "test/Voron.Torture"];
        var planted = places
            .SelectMany(place => SourceTree.Sources(place).Select(path => $"{place}/{path}"))
            .Where(path => !path.StartsWith("src/Voron/Testing/", StringComparison.Ordinal) && !path.EndsWith("PlantedFaultCatalog.cs", StringComparison.Ordinal))
            .SelectMany(path => PlantedName().Matches(File.ReadAllText(SourceTree.File(path))))
            .Select(match => match.Groups[1].Value)
            .ToHashSet();
        PlantedFaultCatalog.EngineSwitches.Except(planted).Should().BeEmpty("a switch without a fault would never be found");
    }

    [Fact]
    public void Every_switch_of_the_disk_is_planted()
    {
        var faults = File.ReadAllText(SourceTree.File("test/Voron.Simulation/Disks/DiskFault.cs"));
        var disk = string.Concat(new[] { "SimulatedDisk", "SimulatedFile" }
            .Select(name => File.ReadAllText(SourceTree.File($"test/Voron.Simulation/Disks/{name}.cs"))));
        PlantedFaultCatalog.Switches.Except(PlantedFaultCatalog.EngineSwitches)
            .Where(name => Regex.Count(faults, $@"\b{name}\b") < 3).Should().BeEmpty("a switch that no method reads plants nothing");
        AskedFor().Matches(faults).Select(match => match.Groups[1].Value)
            .Where(method => !disk.Contains($"DiskFault.{method}(", StringComparison.Ordinal))
            .Should().BeEmpty("a method that the disk does not call plants nothing");
    }

    [Fact]
    public void Every_hunt_has_a_suite_and_cases() => PlantedFaultCatalog.All.Should().OnlyContain(
        fault => Suites.SuiteCatalog.Find(fault.Suite) != null && fault.Count > 0);

    [Fact]
    public void Every_hunt_has_its_line_in_the_account()
    {
        var account = File.ReadAllText(SourceTree.File("docs/correctness/evidence.md"));
        PlantedFaultCatalog.All.Where(fault => !Regex.IsMatch(account, $@"^\| {fault.Name} \| {fault.Suite}\b", RegexOptions.Multiline))
            .Select(fault => $"{fault.Name} by {fault.Suite}").Should().BeEmpty();
    }

    [GeneratedRegex(@"public static bool (\w+)\(")]
    private static partial Regex AskedFor();

    [GeneratedRegex(@"\bPlantedFault\.(\w+)")]
    private static partial Regex PlantedName();
}
