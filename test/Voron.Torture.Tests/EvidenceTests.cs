using System.Globalization;
using Voron.Simulation.Harness;
using Voron.Torture.Suites;

namespace Voron.Torture.Tests;

/// <summary>The account of the suites says of each how much the tests run of it.</summary>
public sealed class EvidenceTests
{
    private const int Cells = 4;
    private const int MillisecondsPerSecond = 1000;

    [Fact]
    public void Each_suite_has_its_count_in_the_account()
    {
        var counts = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (var line in File.ReadLines(SourceTree.File("docs/correctness/evidence.md")).SkipWhile(line => !line.StartsWith("| suite |")))
        {
            // The table of suites is the first one.
            if (line.Length == 0)
                break;
            var cells = line.Trim('|').Split('|');
            if (cells.Length > Cells)
                counts[cells[0].Trim()] = cells[2].Trim();
        }

        foreach (var suite in SuiteCatalog.All)
            counts.GetValueOrDefault(suite.Name).Should().StartWith(CountOf(suite), $"the tests run so much of {suite.Name}");
    }

    private static string CountOf(Suite suite) => suite.Unit == "milliseconds"
        ? $"{suite.TestCount / MillisecondsPerSecond} s"
        : suite.TestCount.ToString("N0", CultureInfo.InvariantCulture);
}
