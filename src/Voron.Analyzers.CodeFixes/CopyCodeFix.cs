using System.Collections.Immutable;
using System.Composition;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Voron.Analyzers.CodeFixes;

/// <summary>
/// Copies the bytes of a span that is returned from the scope of its transaction (VORON002). Where a span is used after the end, a copy at that
/// place would be too late, so none is offered.
/// </summary>
[ExportCodeFixProvider(LanguageNames.CSharp)]
[Shared]
public sealed class CopyCodeFix : CodeFixProvider
{
    private const string Title = "Return a copy";

    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds { get; } = [Rules.InvalidSpanId];

    /// <inheritdoc/>
    public override FixAllProvider GetFixAllProvider() => WellKnownFixAllProviders.BatchFixer;

    /// <inheritdoc/>
    public override async Task RegisterCodeFixesAsync(CodeFixContext context)
    {
        var root = await context.Document.GetSyntaxRootAsync(context.CancellationToken).ConfigureAwait(false);
        var diagnostic = context.Diagnostics[0];
        if (root?.FindNode(diagnostic.Location.SourceSpan, getInnermostNodeForTie: true) is not ExpressionSyntax span
            || !diagnostic.Properties.ContainsKey(Rules.CopyRepairs))
            return;
        var model = await context.Document.GetSemanticModelAsync(context.CancellationToken).ConfigureAwait(false);
        if (!VoronTypes.IsSpan(model?.GetTypeInfo(span, context.CancellationToken).Type))
            return;
        var changed = context.Document.WithSyntaxRoot(root.ReplaceNode(span, Copy(span)));
        context.RegisterCodeFix(CodeAction.Create(Title, _ => Task.FromResult(changed), equivalenceKey: Title), diagnostic);
    }

    private static InvocationExpressionSyntax Copy(ExpressionSyntax span)
    {
        var bare = span.WithoutTrivia();
        var isPrimary = bare is IdentifierNameSyntax or MemberAccessExpressionSyntax or InvocationExpressionSyntax or ElementAccessExpressionSyntax
            or ParenthesizedExpressionSyntax;
        var receiver = isPrimary ? bare : SyntaxFactory.ParenthesizedExpression(bare);
        var member = SyntaxFactory.MemberAccessExpression(
            SyntaxKind.SimpleMemberAccessExpression, receiver, SyntaxFactory.IdentifierName("ToArray"));
        return SyntaxFactory.InvocationExpression(member).WithTriviaFrom(span);
    }
}
