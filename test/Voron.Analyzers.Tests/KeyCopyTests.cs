using Voron.Analyzers.Tests.Snippets;

namespace Voron.Analyzers.Tests;

/// <summary>VORON005: keys that are continued through a copy of their writer.</summary>
[Quick]
public sealed class KeyCopyTests
{
    public static TheoryData<string> Copied => CopiedKeySnippets.All.Names;

    public static TheoryData<string> Referred => ReferredKeySnippets.All.Names;

    [Theory]
    [MemberData(nameof(Copied))]
    public Task A_copy_that_is_written_is_reported(string name) => AnalyzerRun.Check(CopiedKeySnippets.All[name], "VORON005");

    [Theory]
    [MemberData(nameof(Referred))]
    public Task A_reference_is_not_reported(string name) => AnalyzerRun.Check(ReferredKeySnippets.All[name], "VORON005");
}
