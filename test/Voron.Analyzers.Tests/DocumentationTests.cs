using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;

namespace Voron.Analyzers.Tests;

/// <summary>docs/analyzers.md describes all rules, and its examples are reported, or not, as it says.</summary>
public sealed partial class DocumentationTests
{
    private static readonly string Page = File.ReadAllText(Path.Combine(RepositoryRoot(), "docs", "analyzers.md"));

    private static readonly DiagnosticDescriptor[] Rules = [.. AnalyzerRun.Analyzers.SelectMany(analyzer => analyzer.SupportedDiagnostics)];

    public static TheoryData<string> Ids => [.. Rules.Select(rule => rule.Id)];

    [Fact]
    public void The_rules_are_those_that_are_tracked_for_releases()
    {
        var tracked = new[] { "AnalyzerReleases.Shipped.md", "AnalyzerReleases.Unshipped.md" }
            .SelectMany(file => File.ReadAllLines(Path.Combine(RepositoryRoot(), "src", "Voron.Analyzers", file)))
            .Where(line => line.StartsWith("VORON", StringComparison.Ordinal))
            .Select(line => line.Split('|').Take(3).Select(cell => cell.Trim()));
        tracked.Select(cells => string.Join(' ', cells)).Should()
            .BeEquivalentTo(Rules.Select(rule => $"{rule.Id} {rule.Category} {rule.DefaultSeverity}"));
        Rules.Select(rule => rule.Id).Should().BeEquivalentTo("VORON001", "VORON002", "VORON003", "VORON004", "VORON005");
    }

    [Theory]
    [MemberData(nameof(Ids))]
    public void A_rule_is_a_warning_with_a_link_to_its_section(string id)
    {
        var rule = Rules.Single(candidate => candidate.Id == id);
        rule.DefaultSeverity.Should().Be(DiagnosticSeverity.Warning);
        rule.IsEnabledByDefault.Should().BeTrue();
        var link = new Uri(rule.HelpLinkUri, UriKind.Absolute);
        link.AbsolutePath.Should().EndWith("/blob/main/docs/analyzers.md");
        link.Fragment.Should().Be("#" + id.ToLowerInvariant());
        Section(id).Should().Contain($"**{rule.Title}.**").And.Contain("**What happens.**").And.Contain("**To suppress it.**");
    }

    [Theory]
    [MemberData(nameof(Ids))]
    public async Task The_wrong_example_is_reported_where_the_page_says(string id)
    {
        var code = Example(id, "Wrong");
        var expected = code.Split('\n').Index()
            .Where(line => line.Item.Contains("// " + id, StringComparison.Ordinal)).Select(line => $"{id} {line.Index + 1}");
        var found = await Diagnose(code);
        found.Should().Equal(expected);
        found.Should().HaveCountGreaterThan(1);
    }

    [Theory]
    [MemberData(nameof(Ids))]
    public async Task The_right_example_is_not_reported(string id) => (await Diagnose(Example(id, "Right"))).Should().BeEmpty();

    private static async Task<IReadOnlyList<string>> Diagnose(string code)
    {
        const string before = """
            using System;
            using System.Collections.Generic;
            using System.IO;
            using System.Text;
            using System.Threading.Tasks;
            using Voron;
            using Voron.Tables;

            class Program(StorageEnvironment environment)
            {

            """;
        var found = await AnalyzerRun.Diagnose(AnalyzerRun.Compile(before + code + "\n}\n"));
        var first = before.AsSpan().Count('\n') - 1;
        return [.. found.Select(diagnostic => $"{diagnostic.Id} {diagnostic.Location.GetLineSpan().StartLinePosition.Line - first}")];
    }

    private static string Section(string id)
    {
        var sections = Heading().Split(Page);
        return sections.Single(section => section.StartsWith(id + "\n", StringComparison.Ordinal));
    }

    private static string Example(string id, string kind) =>
        Regex.Match(Section(id), $"^{kind}:\n\n```csharp\n(.*?)^```", RegexOptions.Singleline | RegexOptions.Multiline).Groups[1].Value;

    private static string RepositoryRoot()
    {
        for (var directory = new DirectoryInfo(AppContext.BaseDirectory); directory != null; directory = directory.Parent)
        {
            if (File.Exists(Path.Combine(directory.FullName, "Voron.sln")))
                return directory.FullName;
        }

        throw new DirectoryNotFoundException($"There is no Voron.sln above '{AppContext.BaseDirectory}'.");
    }

    [GeneratedRegex("^## ", RegexOptions.Multiline)]
    private static partial Regex Heading();
}
