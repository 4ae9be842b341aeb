using System.Text.RegularExpressions;

namespace Voron.Documentation.Tests;

/// <summary>The README does not call missing what the changelog announces.</summary>
public sealed partial class MissingFeatureTests
{
    [Fact]
    public void No_missing_feature_is_announced()
    {
        var missing = Missing(File.ReadAllText(SourceTree.File("README.md")));
        missing.Should().NotBeEmpty();
        Announced(missing, File.ReadAllText(SourceTree.File("CHANGELOG.md"))).Should().BeEmpty();
    }

    [Fact]
    public void An_announced_feature_is_found() =>
        Announced(Missing("text\n\nNot there yet: encryption, several values per key.\n"), "- Trees with several values\n  per key.\n")
            .Should().Equal("several values per key");

    private static string[] Missing(string readme) =>
        [.. NotThere().Matches(readme).SelectMany(match => match.Groups[1].Value.Split([", ", " and "], StringSplitOptions.TrimEntries))];

    private static IEnumerable<string> Announced(string[] missing, string changelog)
    {
        var text = Space().Replace(changelog, " ");
        return missing.Where(feature => text.Contains(feature, StringComparison.OrdinalIgnoreCase));
    }

    [GeneratedRegex(@"^Not there yet: ([^.]+)\.", RegexOptions.Multiline)]
    private static partial Regex NotThere();

    [GeneratedRegex(@"\s+")]
    private static partial Regex Space();
}
