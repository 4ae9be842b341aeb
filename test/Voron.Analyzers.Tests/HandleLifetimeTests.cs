using Voron.Analyzers.Tests.Snippets;

namespace Voron.Analyzers.Tests;

/// <summary>VORON004: handles that are used after their transaction.</summary>
public sealed class HandleLifetimeTests
{
    public static TheoryData<string> Ended => EndedHandleSnippets.All.Names;

    public static TheoryData<string> Open => OpenHandleSnippets.All.Names;

    public static TheoryData<string> Kept => KeptHandleSnippets.All.Names;

    [Theory]
    [MemberData(nameof(Ended))]
    public Task A_handle_of_an_ended_transaction_is_reported(string name) => AnalyzerRun.Check(EndedHandleSnippets.All[name], "VORON004");

    [Theory]
    [MemberData(nameof(Open))]
    public Task An_open_handle_is_not_reported(string name) => AnalyzerRun.Check(OpenHandleSnippets.All[name], "VORON004");

    [Theory]
    [MemberData(nameof(Kept))]
    public Task A_handle_that_is_kept_with_its_transaction_is_not_reported(string name) =>
        AnalyzerRun.Check(KeptHandleSnippets.All[name], "VORON004");
}
