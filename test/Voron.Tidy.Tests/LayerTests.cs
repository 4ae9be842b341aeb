using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Voron.Tidy.Tests;

/// <summary>
/// A folder of src/Voron uses only the folders that <see cref="LayerRules"/> permits, and no two files use each other. Without this, a part of
/// the engine could no longer be read or tested without those that are built on it.
/// </summary>
public sealed class LayerTests(LayerTests.Engine engine) : IClassFixture<LayerTests.Engine>
{
    [Fact]
    public void Every_folder_is_a_layer() => LayerRules.FoldersThatAreNoLayer(engine.Graph.Files.Keys).Should().BeEmpty();

    [Fact]
    public void A_namespace_is_that_of_its_folder()
    {
        var found = engine.Graph.Files.Values
            .SelectMany(file => Namespaces(file).Where(name => name != LayerRules.Namespace(file.Path))
                .Select(name => $"{file.Path} declares {name}, not {LayerRules.Namespace(file.Path)}"))
            .ToList();
        Assert.True(found.Count == 0, Lines($"{found.Count} files declare another namespace than that of their folder", found));
    }

    [Fact]
    public void A_layer_uses_only_the_layers_that_it_may_use()
    {
        var found = LayerRules.ForbiddenReferences(engine.Graph);
        Assert.True(found.Count == 0, Lines($"{found.Count} pairs of files break the rules of the layers", found));
    }

    [Fact]
    public void The_table_of_layers_permits_no_cycle_and_nothing_that_is_not_used()
    {
        LayerRules.WrongPermissions().Should().BeEmpty();
        var unused = LayerRules.UnusedPermissions(engine.Graph);
        Assert.True(unused.Count == 0, Lines($"{unused.Count} permissions are not used", unused));
    }

    [Fact]
    public void Tables_and_feeds_use_the_internal_types_of_the_engine_that_the_list_has()
    {
        var found = LayerRules.DifferencesAbove(engine.Graph);
        Assert.True(found.Count == 0, Lines($"{found.Count} differences between the list and the sources", found));
    }

    [Fact]
    public void No_files_use_each_other()
    {
        var found = LayerRules.ForbiddenCycles(engine.Graph);
        Assert.True(found.Count == 0, Lines($"{found.Count} cycles of files", found));
    }

    [Fact]
    public void The_picture_of_the_layers_in_the_design_is_that_of_the_table()
    {
        var picture = string.Join('\n', LayerRules.Picture());
        var design = SourceText.Load("", "*.md").Single(file => file.Path == "docs/design.md");
        Assert.True(design.Text.Contains($"```mermaid\n{picture}\n```", StringComparison.Ordinal), $"docs/design.md must have this picture:\n{picture}");
    }

    [Fact]
    public void The_picture_has_each_layer()
    {
        char[] between = [' ', '&', '[', ']'];
        var words = LayerRules.Picture().SelectMany(line => line.Split(between, StringSplitOptions.RemoveEmptyEntries)).ToHashSet();
        LayerRules.All.Except(words).Should().BeEmpty();
    }

    [Fact]
    public void Each_layer_has_a_line_in_the_table_of_the_contributors()
    {
        var contributing = SourceText.Load("", "*.md").Single(file => file.Path == "CONTRIBUTING.md");
        LayerRules.All.Where(layer => !contributing.Lines.Any(line => line.StartsWith($"| `{layer}/` |", StringComparison.Ordinal))).Should().BeEmpty();
    }

    // A compilation that finds nothing would satisfy every test above.
    [Fact]
    public void The_references_of_the_engine_are_found()
    {
        engine.Graph.References.Should().HaveCountGreaterThan(1000);
        engine.Graph.References.Should().Contain(reference => reference.From == "Trees/TreeWriter.cs" && reference.To == "Trees/TreeState.cs"
            && reference.Symbols.Contains("TreeState"));
        engine.Graph.References.Should().Contain(
            reference => reference.From == "Api/Environment/StorageEnvironment.cs" && reference.To == "Contracts/StorageOptions.cs");
        engine.Graph.MainFile("Api/Environment/StorageEnvironment.GroupCommit.cs").Should().Be("Api/Environment/StorageEnvironment.cs");
        engine.Graph.Unresolved.Should().BeEmpty("each name of the sources has a symbol");
    }

    [Fact]
    public void A_cycle_and_an_upward_reference_are_reported()
    {
        var graph = SourceGraph.Of(
        [
            new("Format/Lower.cs", "namespace Voron.Format; class Lower { int Size => Voron.Trees.Upper.Width; }"),
            new("Trees/Upper.cs", "namespace Voron.Trees; class Upper { public const int Width = 8; Voron.Format.Lower? _lower = new(); }"),
        ]);
        LayerRules.ForbiddenReferences(graph).Select(reference => reference.ToString())
            .Should().Equal("Format/Lower.cs -> Trees/Upper.cs: Upper, Upper.Width");
        LayerRules.ForbiddenCycles(graph).Should().Equal("""
            2 files use each other: Format/Lower.cs, Trees/Upper.cs
              Format/Lower.cs -> Trees/Upper.cs: Upper, Upper.Width
              Trees/Upper.cs -> Format/Lower.cs: Lower
            """.ReplaceLineEndings("\n"));
    }

    [Fact]
    public void A_reference_to_a_lower_layer_that_is_not_permitted_is_reported()
    {
        var graph = SourceGraph.Of(
        [
            new("Paging/Page.cs", "namespace Voron.Paging; class Page { }"),
            new("Journal/Record.cs", "namespace Voron.Journal; class Record { Voron.Paging.Page? _page; }"),
            new("Trees/Tree.cs", "namespace Voron.Trees; class Tree { Voron.Paging.Page? _page; }"),
        ]);
        LayerRules.ForbiddenReferences(graph).Select(reference => reference.ToString()).Should().Equal("Journal/Record.cs -> Paging/Page.cs: Page");
    }

    [Fact]
    public void Internal_types_that_tables_and_feeds_name_or_use_without_their_names_are_found()
    {
        var graph = SourceGraph.Of(
        [
            new("Testing/Fault.cs", "namespace Voron.Testing; class Fault { }"),
            new("Trees/Text.cs", "namespace Voron.Trees; class Text { public Part? Part; } class Part { public int Length; }"),
            new("Api/Trees/Tree.cs", "namespace Voron; public class Tree { internal Voron.Trees.Text? Text; }"),
            new("Tables/Row.cs", "namespace Voron.Tables; class Row { Voron.Testing.Fault? _fault; int M(Tree tree) => tree.Text!.Part!.Length; }"),
            new("Feeds/Feed.cs", "namespace Voron.Feeds; class Feed { Voron.Tables.Row? _row; Voron.Trees.Part? _part; }"),
        ]);
        LayerRules.TypesAbove(graph).Should().Equal(("Part", "Feeds/Feed.cs, Tables/Row.cs"), ("Text", "Tables/Row.cs"));
    }

    [Fact]
    public void Contracts_that_use_the_engine_are_reported()
    {
        var graph = SourceGraph.Of(
        [
            new("Contracts/StorageOptions.cs", "namespace Voron; class StorageOptions { FlushReport? _report; Voron.Primitives.Clock? _clock; }"),
            new("Contracts/FlushReport.cs", "namespace Voron; class FlushReport { }"),
            new("Primitives/Clock.cs", "namespace Voron.Primitives; class Clock { StorageOptions? _options; }"),
        ]);
        LayerRules.ForbiddenReferences(graph).Select(reference => reference.ToString())
            .Should().Equal("Contracts/StorageOptions.cs -> Primitives/Clock.cs: Clock");
    }

    [Fact]
    public void Documentation_and_nameof_use_nothing_and_parts_of_a_type_count_as_one_file()
    {
        var graph = SourceGraph.Of(
        [
            new("Format/A.cs", "namespace Voron.Format; /// <summary><see cref=\"B\"/></summary>\npartial class A { string _b = nameof(B); }"),
            new("Format/A.Part.cs", "namespace Voron.Format; partial class A { void M() { _b = \"\"; } }"),
            new("Format/B.cs", "namespace Voron.Format; class B { A? _a; }"),
        ]);
        graph.References.Select(reference => reference.ToString()).Should().Equal("Format/B.cs -> Format/A.cs: A");
        LayerRules.ForbiddenCycles(graph).Should().BeEmpty();
    }

    [Theory]
    [InlineData("Lost/Thing.cs", "Lost")]
    [InlineData("Trees/Lost/Thing.cs", "Trees/Lost")]
    [InlineData("Thing.cs", "")]
    public void A_folder_that_is_no_layer_is_reported(string path, string folder) =>
        LayerRules.FoldersThatAreNoLayer([path, "IO/Posix/Thing.cs", "Api/Trees/Thing.cs", "Contracts/Thing.cs"]).Should().Equal(folder);

    private static IEnumerable<string> Namespaces(SourceText file) =>
        file.Tree.GetRoot().DescendantNodes().OfType<BaseNamespaceDeclarationSyntax>().Select(space => space.Name.ToString()).Distinct();

    private static string Lines<T>(string title, IEnumerable<T> found) => $"{title}:\n{string.Join('\n', found)}";

    /// <summary>The references of the engine, compiled once for all tests.</summary>
    public sealed class Engine
    {
        internal SourceGraph Graph { get; } = SourceGraph.Of(SourceText.Engine);
    }
}
