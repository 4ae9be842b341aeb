using Voron.Analyzers.Tests.Snippets;

namespace Voron.Analyzers.Tests;

/// <summary>VORON002: spans whose bytes may have changed.</summary>
public sealed class SpanLifetimeTests
{
    public static TheoryData<string> Invalid => InvalidSpanSnippets.All.Names;

    public static TheoryData<string> InvalidAtCursors => InvalidCursorSnippets.All.Names;

    public static TheoryData<string> Valid => ValidSpanSnippets.All.Names;

    public static TheoryData<string> ValidAtCursors => ValidCursorSnippets.All.Names;

    [Theory]
    [MemberData(nameof(Invalid))]
    public Task A_span_that_is_no_longer_valid_is_reported(string name) => AnalyzerRun.Check(InvalidSpanSnippets.All[name], "VORON002");

    [Theory]
    [MemberData(nameof(InvalidAtCursors))]
    public Task A_span_of_a_cursor_that_is_no_longer_valid_is_reported(string name) =>
        AnalyzerRun.Check(InvalidCursorSnippets.All[name], "VORON002");

    [Theory]
    [MemberData(nameof(Valid))]
    public Task A_valid_span_is_not_reported(string name) => AnalyzerRun.Check(ValidSpanSnippets.All[name], "VORON002");

    [Theory]
    [MemberData(nameof(ValidAtCursors))]
    public Task A_valid_span_of_a_cursor_is_not_reported(string name) => AnalyzerRun.Check(ValidCursorSnippets.All[name], "VORON002");
}
