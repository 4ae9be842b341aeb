using System.Text.RegularExpressions;

namespace Voron.Documentation.Tests;

/// <summary>Links between the documents lead to files and headings that exist.</summary>
public sealed partial class LinkTests
{
    private const string Repository = "https://github.com/voron-db/voron/blob/main/";

    public static TheoryData<string> Documents =>
        [.. SourceTree.Sources("", "*.md")];

    [Theory]
    [MemberData(nameof(Documents))]
    public void Links_lead_to_something(string document) =>
        BrokenLinks(document, File.ReadAllText(SourceTree.File(document))).Should().BeEmpty();

    [Fact]
    public void A_broken_link_is_found() =>
        BrokenLinks("docs/design.md", "[a](concepts.md) [b](missing.md) [c](concepts.md#limits) [d](concepts.md#missing) [e](https://example.com)")
            .Should().Equal("missing.md", "concepts.md#missing");

    private static IEnumerable<string> BrokenLinks(string document, string text)
    {
        foreach (Match match in Link().Matches(CodeBlock().Replace(text, "")))
        {
            var link = match.Groups[1].Value;
            var target = link.StartsWith(Repository, StringComparison.Ordinal) ? "/" + link[Repository.Length..] : link;
            if (target.Contains("://", StringComparison.Ordinal) || target.StartsWith("mailto:", StringComparison.Ordinal))
                continue;
            if (!Exists(document, target))
                yield return link;
        }
    }

    private static bool Exists(string document, string target)
    {
        var parts = target.Split('#');
        var file = parts[0] switch
        {
            "" => SourceTree.File(document),
            ['/', .. var path] => SourceTree.File(path),
            var path => Path.GetFullPath(Path.Combine(Path.GetDirectoryName(SourceTree.File(document))!, path)),
        };
        if (!File.Exists(file))
            return parts.Length == 1 && Directory.Exists(file);
        return parts.Length == 1 || Headings(file).Contains(parts[1]);
    }

    // As GitHub names the places: lower case, hyphens for spaces, nothing else but letters, digits and underscores.
    private static IEnumerable<string> Headings(string file) =>
        from match in Heading().Matches(File.ReadAllText(file))
        select NotInAnchor().Replace(match.Groups[1].Value.ToLowerInvariant(), "").Replace(' ', '-');

    [GeneratedRegex(@"\]\(([^)\s]+)\)")]
    private static partial Regex Link();

    [GeneratedRegex("^```.*?^```$|`[^`\n]*`", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex CodeBlock();

    [GeneratedRegex("^#+ +(.+?) *$", RegexOptions.Multiline)]
    private static partial Regex Heading();

    [GeneratedRegex(@"[^\w\- ]")]
    private static partial Regex NotInAnchor();
}
