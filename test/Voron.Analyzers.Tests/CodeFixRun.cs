using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;

namespace Voron.Analyzers.Tests;

/// <summary>Applies code fixes as an IDE does.</summary>
internal static class CodeFixRun
{
    /// <summary>Applies the only fix of the first diagnostic of a rule; returns null if there is none.</summary>
    public static async Task<string?> Apply(CodeFixProvider provider, string code, string rule, params MetadataReference[] engine)
    {
        var compilation = engine.Length == 0 ? AnalyzerRun.Compile(code) : AnalyzerRun.Compile(code, "Program.cs", engine);
        var diagnostic = (await AnalyzerRun.Diagnose(compilation)).First(found => found.Id == rule);
        using var workspace = new AdhocWorkspace();
        var project = workspace.AddProject("Snippet", LanguageNames.CSharp)
            .WithParseOptions(compilation.SyntaxTrees.Single().Options)
            .WithCompilationOptions(compilation.Options)
            .WithMetadataReferences(compilation.References);
        var document = project.AddDocument("Program.cs", code);

        var actions = new List<CodeAction>();
        var context = new CodeFixContext(
            document, diagnostic, (action, _) => actions.Add(action), TestContext.Current.CancellationToken);
        await provider.RegisterCodeFixesAsync(context);
        if (actions.Count == 0)
            return null;
        var operations = await actions.Should().ContainSingle().Which.GetOperationsAsync(TestContext.Current.CancellationToken);
        var changed = operations.OfType<ApplyChangesOperation>().Single().ChangedSolution.GetDocument(document.Id)!;
        return (await changed.GetTextAsync(TestContext.Current.CancellationToken)).ToString();
    }
}
