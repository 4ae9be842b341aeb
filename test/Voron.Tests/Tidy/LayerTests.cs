using System.Text.RegularExpressions;

namespace Voron.Tests.Tidy;

/// <summary>A folder of src/Voron uses only the folders listed before it; the root uses all. CONTRIBUTING.md has the table.</summary>
public sealed partial class LayerTests
{
    private const string Root = "";

    private static readonly string[] Layers =
    [
        "Primitives", "Format", "IO", "Paging", "Scratch", "Journal", "Trees", "FreeSpace", "Transactions", "Flushing",
        "Maintenance", "Diagnostics", Root,
    ];

    /// <summary>Options and the reports that their observers receive: plain data, which every layer may use.</summary>
    private const string Shared = "StorageOptions.cs";

    /// <summary>Names that are members in these files, and only happen to equal those of types in higher layers.</summary>
    private static readonly HashSet<(string File, string Name)> Members =
    [
        ("Format/PageHeader.cs", "SectionMap"),
        ("Format/EnvironmentState.cs", "Catalog"),
        ("Format/StateStructure.cs", "Catalog"),
    ];

    [Fact]
    public void Every_folder_is_a_layer() =>
        SourceText.Engine.Select(file => file.Folder).Distinct().Should().BeSubsetOf(Layers);

    [Fact]
    public void A_namespace_is_that_of_its_folder_or_of_the_public_surface()
    {
        foreach (var file in SourceText.Engine)
        {
            var name = Namespace().Match(file.Code).Groups[1].Value;
            var folder = "Voron." + string.Join('.', file.Path.Split('/')[..^1]);
            (name == "Voron" || name == folder || folder.StartsWith(name + ".", StringComparison.Ordinal))
                .Should().BeTrue($"{file.Path} declares namespace {name}");
        }
    }

    [Fact]
    public void A_layer_uses_only_layers_before_it()
    {
        var found = new List<string>();
        foreach (var file in SourceText.Engine)
        {
            foreach (Match match in UsedNamespace().Matches(file.Code))
            {
                var layer = match.Groups[1].Success ? match.Groups[1].Value : match.Groups[2].Value;
                if (Rank(layer) > Rank(file.Folder))
                    found.Add($"{file.Path} names Voron.{layer}");
            }
        }

        found.Should().BeEmpty();
    }

    // Types of the public surface share one namespace, so usings alone would not show them.
    [Fact]
    public void A_layer_names_only_types_of_layers_before_it()
    {
        var layerOf = new Dictionary<string, string>();
        foreach (var file in SourceText.Engine.Where(file => file.Path != Shared))
        {
            foreach (Match match in DeclaredType().Matches(file.Code))
                layerOf[match.Groups[1].Value] = file.Folder;
        }

        layerOf.Should().HaveCountGreaterThan(150).And.Contain("StorageEnvironment", Root).And.Contain("PageHeader", "Format");
        var found = new List<string>();
        foreach (var file in SourceText.Engine)
        {
            // Code that only names a type in a message does not use it.
            var code = NameOf().Replace(file.Code, "");
            foreach (var name in Identifier().Matches(code).Select(match => match.Value).Distinct())
            {
                if (layerOf.TryGetValue(name, out var layer) && Rank(layer) > Rank(file.Folder) && !Members.Contains((file.Path, name)))
                    found.Add($"{file.Path} uses {name} of {(layer == Root ? "the root" : layer)}");
            }
        }

        found.Should().BeEmpty();
    }

    private static int Rank(string layer) => Array.IndexOf(Layers, layer);

    [GeneratedRegex(@"^namespace ([\w.]+);", RegexOptions.Multiline)]
    private static partial Regex Namespace();

    [GeneratedRegex(@"(?<![\w.])(?:Voron\.)?(Paging|Scratch|Journal|Trees|FreeSpace|Transactions|Flushing|Maintenance|Diagnostics|IO)\.[A-Z]|\busing Voron\.(\w+);")]
    private static partial Regex UsedNamespace();

    [GeneratedRegex(@"^(?:public|internal)\b[\w ]*?\b(?:class|interface|enum|struct|record)\s+(?!class|struct)(\w+)", RegexOptions.Multiline)]
    private static partial Regex DeclaredType();

    [GeneratedRegex(@"\bnameof\([^)]*\)")]
    private static partial Regex NameOf();

    [GeneratedRegex(@"(?<![\w.])[A-Z]\w*")]
    private static partial Regex Identifier();
}
