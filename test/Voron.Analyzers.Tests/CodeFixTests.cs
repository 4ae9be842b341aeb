using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeFixes;
using Voron.Analyzers.CodeFixes;

namespace Voron.Analyzers.Tests;

/// <summary>The fixes that an IDE offers. Each leads to code that compiles and that no rule reports.</summary>
public sealed class CodeFixTests
{
    [Theory]
    [InlineData("long M() { var tx = env.BeginRead(); return tx.TransactionId; }", "long M() { using var tx = env.BeginRead(); return tx.TransactionId; }")]
    [InlineData(
        "async Task M()\n{\n    // Writes.\n    WriteTransaction tx = await env.BeginWriteAsync(); // begun\n    tx.Commit();\n}",
        "async Task M()\n{\n    // Writes.\n    using WriteTransaction tx = await env.BeginWriteAsync(); // begun\n    tx.Commit();\n}")]
    [InlineData(
        "void M(bool reads) { var tx = reads ? env.BeginRead() : default; Use(tx.TransactionId); }",
        "void M(bool reads) { using var tx = reads ? env.BeginRead() : default; Use(tx.TransactionId); }")]
    [InlineData(
        "Action M() => () => { var tx = env.BeginRead(); Use(tx.TransactionId); };",
        "Action M() => () => { using var tx = env.BeginRead(); Use(tx.TransactionId); };")]
    public Task A_declaration_becomes_a_using_declaration(string code, string expected) => Check(new UsingCodeFix(), code, "VORON001", expected);

    [Theory]
    [InlineData("void M() { env.BeginRead(); }")]
    [InlineData("long M() { var count = env.BeginRead().OpenTree(\"a\").Count; return count; }")]
    [InlineData("void M() { ReadTransaction tx; tx = env.BeginRead(); Use(tx.TransactionId); }")]
    [InlineData("void M() { ReadTransaction tx = env.BeginRead(), other = tx; Use(other.TransactionId); }")]
    [InlineData("void M(int kind) { switch (kind) { case 1: var tx = env.BeginRead(); Use(tx.TransactionId); break; } }")]
    public async Task No_using_is_offered_where_the_language_permits_none_or_it_would_not_help(string code) =>
        (await Fix(new UsingCodeFix(), code, "VORON001")).Should().BeNull();

    [Theory]
    [InlineData(
        "ReadOnlySpan<byte> M() { using var tx = env.BeginRead(); tx.OpenTree(\"a\").TryGet(\"k\"u8, out var value); return value; }",
        "ReadOnlySpan<byte> M() { using var tx = env.BeginRead(); tx.OpenTree(\"a\").TryGet(\"k\"u8, out var value); return value.ToArray(); }")]
    [InlineData(
        "ReadOnlySpan<byte> M() { using var tx = env.BeginRead(); return tx.OpenTree(\"a\").TryGet(\"k\"u8, out var value) ? value : default; }",
        "ReadOnlySpan<byte> M() { using var tx = env.BeginRead(); return (tx.OpenTree(\"a\").TryGet(\"k\"u8, out var value) ? value : default).ToArray(); }")]
    [InlineData(
        "ReadOnlySpan<byte> M() { using var tx = env.BeginRead(); using var cursor = tx.OpenTree(\"a\").OpenCursor(); return cursor.Key[1..]; }",
        "ReadOnlySpan<byte> M() { using var tx = env.BeginRead(); using var cursor = tx.OpenTree(\"a\").OpenCursor(); return cursor.Key[1..].ToArray(); }")]
    public Task A_returned_span_becomes_a_copy(string code, string expected) => Check(new CopyCodeFix(), code, "VORON002", expected);

    [Theory]
    [InlineData("void M() { var tx = env.BeginRead(); tx.OpenTree(\"a\").TryGet(key, out var value); tx.Dispose(); Use(value); }")]
    [InlineData("bool M(out ReadOnlySpan<byte> value) { using var tx = env.BeginRead(); return tx.OpenTree(\"a\").TryGet(\"k\"u8, out value); }")]
    [InlineData("TreeEntry M() { using var tx = env.BeginRead(); tx.OpenTree(\"a\").TryGetFirst(out var entry); return entry; }")]
    public async Task No_copy_is_offered_where_it_would_be_too_late_or_impossible(string code) =>
        (await Fix(new CopyCodeFix(), code, "VORON002")).Should().BeNull();

    [Fact]
    public async Task A_value_that_can_only_be_disposed_asynchronously_becomes_an_awaited_using_declaration()
    {
        var engine = AnalyzerRun.CompileEngine(FutureEngine.Source);
        var code = FutureEngine.Program("async Task M() { var staged = await env.StageAsync(Stream.Null); }");
        var changed = await CodeFixRun.Apply(new UsingCodeFix(), code, "VORON001", engine);
        changed.Should().Be(FutureEngine.Program("async Task M() { await using var staged = await env.StageAsync(Stream.Null); }"));
        AnalyzerRun.Compile(changed!, "Program.cs", engine);
    }

    [Fact]
    public void Each_fix_can_repair_a_whole_solution()
    {
        foreach (var provider in new CodeFixProvider[] { new UsingCodeFix(), new CopyCodeFix() })
        {
            provider.GetFixAllProvider().Should().Be(WellKnownFixAllProviders.BatchFixer);
            provider.GetType().GetCustomAttributes(typeof(ExportCodeFixProviderAttribute), false).Should()
                .ContainSingle().Which.Should().BeOfType<ExportCodeFixProviderAttribute>().Which.Languages.Should().Equal(LanguageNames.CSharp);
        }
    }

    private static Task<string?> Fix(CodeFixProvider provider, string members, string rule) =>
        CodeFixRun.Apply(provider, Snippet.Members(members, rule).Code, rule);

    private static async Task Check(CodeFixProvider provider, string members, string rule, string expected)
    {
        var changed = await Fix(provider, members, rule);
        changed.Should().Be(Snippet.Members(expected, rule).Code);
        (await AnalyzerRun.Diagnose(AnalyzerRun.Compile(changed!))).Should().BeEmpty();
    }
}
