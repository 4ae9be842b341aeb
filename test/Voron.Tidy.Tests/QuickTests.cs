using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Voron.Tidy.Tests;

/// <summary>Tests that are marked as quick are: they wait for nothing and nobody.</summary>
public sealed class QuickTests
{
    /// <summary>Types and methods that start a process, sleep, or touch a real file.</summary>
    private static readonly HashSet<string> Slow =
    [
        "Process", "ProcessStartInfo", "CreatorProcess", "KillTargetProcess", "OperationProcess", "ToolProcess",
        "Sleep", "Delay", "GiveTimeFor", "GiveTimeForAsync",
        "File", "FileStream", "FileInfo", "Directory", "DirectoryInfo", "TestDirectory", "TemporaryDirectory", "FileSystemDisk", "LoopVolume",
    ];

    public static TheoryData<string> Projects => [.. ShapeTests.Projects.Select(row => row.Data).Where(path => path.EndsWith("Tests", StringComparison.Ordinal))];

    [Theory]
    [MemberData(nameof(Projects))]
    public void Quick_tests_use_no_process_no_sleep_and_no_real_file(string project) => Found(SourceText.Load(project)).Should().BeEmpty();

    [Theory]
    [InlineData("[Quick] class A { void M() { using var d = new TestDirectory(); } }", "A.cs:1 uses TestDirectory")]
    [InlineData("[Quick] class A { void M() => Thread.Sleep(1); }", "A.cs:1 uses Sleep")]
    [InlineData("[Quick] class A\n{ string M() => File.ReadAllText(\"\"); }", "A.cs:2 uses File")]
    [InlineData("[Quick] class A { string M(Disk disk) => disk.File.Directory; }", null)]
    [InlineData("class A { void M() => Thread.Sleep(1); }", null)]
    public void A_quick_test_that_waits_is_found(string text, string? found) =>
        Found([new("A.cs", text)]).Should().BeEquivalentTo(found is null ? [] : new[] { found });

    private static IEnumerable<string> Found(IReadOnlyList<SourceText> files)
    {
        // The parts of a class lie in several files, one of which has the mark.
        var quick = files.SelectMany(file => file.Tree.GetRoot().DescendantNodes().OfType<TypeDeclarationSyntax>())
            .Where(type => type.AttributeLists.SelectMany(list => list.Attributes).Any(attribute => attribute.Name.ToString() == "Quick"))
            .Select(type => type.Identifier.Text).ToHashSet();
        return from file in files
               from type in file.Tree.GetRoot().DescendantNodes().OfType<TypeDeclarationSyntax>()
               where quick.Contains(type.Identifier.Text)
               from name in type.DescendantNodes().OfType<SimpleNameSyntax>()
               where Slow.Contains(name.Identifier.Text) && !IsMember(name)
               select $"{file.Path}:{SourceText.LineOf(name)} uses {name.Identifier.Text}";
    }

    // The name of a property or a field says nothing; that of a method does.
    private static bool IsMember(SimpleNameSyntax name) =>
        name.Parent is MemberAccessExpressionSyntax { Parent: not InvocationExpressionSyntax } access && access.Name == name;
}
