using System.Text.RegularExpressions;

namespace Voron.Tidy.Tests;

/// <summary>
/// The folders of the tests mirror those of the engine, and the table in CONTRIBUTING.md names the tests of main classes that have no test class of
/// their own name.
/// </summary>
public sealed partial class TestMapTests
{
    private const string Head = "| folder | classes and their tests | suites |";

    /// <summary>Folders whose tests are in another folder: the sentence above the table says where.</summary>
    private static readonly string[] Elsewhere =
    [
        "Api/Keys", "Api/Transactions", "IO/Posix", "IO/Windows", "Testing", "Trees/IdSets/Pages", "Trees/Kinds", "Trees/ValueSets",
        "Trees/ValueSets/Records",
    ];

    private static readonly HashSet<string> TestFiles = SourceText.Load("test").Select(file => file.Name).ToHashSet(StringComparer.Ordinal);

    [Fact]
    public void Each_folder_of_the_engine_has_a_folder_of_tests_unless_the_table_says_where()
    {
        var tested = SourceText.Load("test/Voron.Tests").Select(file => file.Folder).ToHashSet(StringComparer.Ordinal);
        SourceText.Engine.Select(file => file.Folder).Distinct().Where(folder => !tested.Contains(folder)).Should().BeEquivalentTo(Elsewhere);
    }

    [Fact]
    public void The_table_of_tests_names_classes_and_tests_that_exist()
    {
        var rows = Rows().ToList();
        rows.Should().HaveCountGreaterThan(30, "each layer with tests has a row");
        rows.SelectMany(Missing).Should().BeEmpty();
    }

    private static IEnumerable<string> Rows() => SourceText.Load("", "*.md").Single(file => file.Path == "CONTRIBUTING.md").Lines
        .SkipWhile(line => line != Head).Skip(2).TakeWhile(line => line.StartsWith('|'));

    private static IEnumerable<string> Missing(string row)
    {
        var cells = row.Split('|', StringSplitOptions.TrimEntries);
        var folder = cells[1].Trim('`');
        var code = string.Concat(SourceText.Engine.Where(file => (file.Folder + "/").StartsWith(folder + "/", StringComparison.Ordinal)).Select(file => file.Code));
        foreach (var part in cells[2].Split(';', StringSplitOptions.TrimEntries))
        {
            string[] names = [.. Name().Matches(part).Select(match => match.Groups[1].Value)];
            if (!Regex.IsMatch(code, $@"\b(?:class|struct|interface|record) {names[0]}\b"))
                yield return $"{folder} has no {names[0]}";
            foreach (var test in names.Skip(1).Where(test => !TestFiles.Contains(test + "Tests.cs")))
                yield return $"{names[0]} of {folder} is not tested by {test}Tests, which does not exist";
        }
    }

    [GeneratedRegex("`(\\w+)`")]
    private static partial Regex Name();
}
