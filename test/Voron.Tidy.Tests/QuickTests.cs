using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Voron.Tidy.Tests;

/// <summary>Tests that are marked as quick are: they wait neither for the system nor for time.</summary>
public sealed class QuickTests
{
    private static readonly HashSet<string> SlowMethods = ["Sleep", "Delay", "GiveTimeFor", "GiveTimeForAsync"];

    /// <summary>Types that start a process or touch a real file.</summary>
    private static readonly HashSet<string> SlowTypes =
    [
        "Process", "ProcessStartInfo", "CreatorProcess", "KillTargetProcess", "OperationProcess", "ToolProcess",
        "File", "FileStream", "FileInfo", "Directory", "DirectoryInfo", "TestDirectory", "TemporaryDirectory", "FileSystemDisk", "LoopVolume",
    ];

    public static TheoryData<string> Projects =>
        [.. ShapeTests.Projects.Select(row => row.Data).Where(path => path.EndsWith("Tests", StringComparison.Ordinal))];

    [Theory]
    [MemberData(nameof(Projects))]
    public void Quick_tests_use_no_process_no_sleep_and_no_real_file(string project) => Found(SourceText.Load(project)).Should().BeEmpty();

    [Theory]
    [InlineData("[Quick] class A { void M() { using var d = new TestDirectory(); } }", "A.cs:1 uses TestDirectory")]
    [InlineData("[Quick] class A { void M() => Thread.Sleep(1); }", "A.cs:1 uses Sleep")]
    [InlineData("[Quick] class A\n{ string M() => File.ReadAllText(\"\"); }", "A.cs:2 uses File")]
    [InlineData("[Quick] class A { string M(Disk disk) => disk.File.Directory + File(1); }", null)]
    [InlineData("class A { void M() => Thread.Sleep(1); }", null)]
    public void A_quick_test_that_waits_is_found(string text, string? found) =>
        Found([new("A.cs", text)]).Should().BeEquivalentTo(found is null ? [] : new[] { found });

    private static IEnumerable<string> Found(IReadOnlyList<SourceText> files)
    {
        // The parts of a class lie in several files of a folder, one of which has the mark.
        var types = files
            .SelectMany(file => file.Tree.GetRoot().DescendantNodes().OfType<TypeDeclarationSyntax>(), (file, type) => (file, type)).ToList();
        var quick = types.Where(part => part.type.AttributeLists.SelectMany(list => list.Attributes).Any(found => found.Name.ToString() == "Quick"))
            .Select(part => (part.file.Folder, part.type.Identifier.Text)).ToHashSet();
        return from part in types
               where quick.Contains((part.file.Folder, part.type.Identifier.Text))
               from name in part.type.DescendantNodes().OfType<SimpleNameSyntax>()
               where SlowMethods.Contains(name.Identifier.Text) || (SlowTypes.Contains(name.Identifier.Text) && !IsMember(name))
               select $"{part.file.Path}:{SourceText.LineOf(name)} uses {name.Identifier.Text}";
    }

    // A property, a field or a method may have the name of a type.
    private static bool IsMember(SimpleNameSyntax name) =>
        name.Parent is InvocationExpressionSyntax || (name.Parent is MemberAccessExpressionSyntax access && access.Name == name);
}
