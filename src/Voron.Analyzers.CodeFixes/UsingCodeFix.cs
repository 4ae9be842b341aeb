using System.Collections.Immutable;
using System.Composition;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Voron.Analyzers.CodeFixes;

/// <summary>Makes the declaration of an undisposed variable (VORON001) a using declaration.</summary>
[ExportCodeFixProvider(LanguageNames.CSharp)]
[Shared]
public sealed class UsingCodeFix : CodeFixProvider
{
    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds { get; } = [Rules.UndisposedId];

    /// <inheritdoc/>
    public override FixAllProvider GetFixAllProvider() => WellKnownFixAllProviders.BatchFixer;

    /// <inheritdoc/>
    public override async Task RegisterCodeFixesAsync(CodeFixContext context)
    {
        var root = await context.Document.GetSyntaxRootAsync(context.CancellationToken).ConfigureAwait(false);
        var model = await context.Document.GetSemanticModelAsync(context.CancellationToken).ConfigureAwait(false);
        var diagnostic = context.Diagnostics[0];
        if (root == null || model == null || Declaration(root.FindNode(diagnostic.Location.SourceSpan)) is not { } declaration)
            return;
        var type = model.GetTypeInfo(declaration.Declaration.Variables[0].Initializer!.Value, context.CancellationToken).Type;
        if (VoronTypes.IsTaskLike(type) || VoronTypes.Of(model.Compilation)?.MustBeDisposed(VoronTypes.Unwrap(type)) != true)
            return;
        var isAwaited = diagnostic.Properties.ContainsKey(Rules.OnlyAsyncDisposable);
        var title = isAwaited ? "Declare with 'await using'" : "Declare with 'using'";
        context.RegisterCodeFix(
            CodeAction.Create(title, _ => Task.FromResult(Change(context.Document, root, declaration, isAwaited)), equivalenceKey: title),
            diagnostic);
    }

    /// <summary>The declaration of a single variable whose value the call is part of; null if the call is in another statement.</summary>
    private static LocalDeclarationStatementSyntax? Declaration(SyntaxNode call) =>
        call.FirstAncestorOrSelf<StatementSyntax>() is LocalDeclarationStatementSyntax declaration
            && declaration is { Declaration.Variables.Count: 1, UsingKeyword.RawKind: 0, Parent: BlockSyntax or GlobalStatementSyntax }
            ? declaration : null;

    private static Document Change(Document document, SyntaxNode root, LocalDeclarationStatementSyntax declaration, bool isAwaited)
    {
        var space = SyntaxFactory.Space;
        var keyword = SyntaxFactory.Token(SyntaxKind.UsingKeyword).WithTrailingTrivia(space);
        var first = isAwaited ? SyntaxFactory.Token(SyntaxKind.AwaitKeyword).WithTrailingTrivia(space) : default;
        var bare = declaration.WithoutLeadingTrivia().WithUsingKeyword(keyword);
        var changed = (isAwaited ? bare.WithAwaitKeyword(first) : bare).WithLeadingTrivia(declaration.GetLeadingTrivia());
        return document.WithSyntaxRoot(root.ReplaceNode(declaration, changed));
    }
}
