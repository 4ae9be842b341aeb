using Voron.Analyzers.Tests.Snippets;

namespace Voron.Analyzers.Tests;

/// <summary>VORON001: values of the engine that must be disposed.</summary>
public sealed class DisposalTests
{
    public static TheoryData<string> Undisposed => UndisposedSnippets.All.Names;

    public static TheoryData<string> Disposed => DisposedSnippets.All.Names;

    [Theory]
    [MemberData(nameof(Undisposed))]
    public Task An_undisposed_value_is_reported(string name) => AnalyzerRun.Check(UndisposedSnippets.All[name], "VORON001");

    [Theory]
    [MemberData(nameof(Disposed))]
    public Task Code_that_disposes_is_not_reported(string name) => AnalyzerRun.Check(DisposedSnippets.All[name], "VORON001");
}
