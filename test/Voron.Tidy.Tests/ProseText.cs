using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Voron.Tidy.Tests;

/// <summary>
/// The sentences of a file, each character at its place in the file, so that a sentence may run over lines. Comments, strings and titles of
/// tests in sources, comments of scripts and models, and the text of Markdown are prose; other identifiers, code in Markdown and in
/// documentation, and the targets of links are not.
/// </summary>
internal static partial class ProseText
{
    /// <summary>Shorter strings without a space are names, keys and parts of patterns.</summary>
    private const int MinString = 20;

    /// <summary>Takes the place of a character that is not prose, and separates words.</summary>
    private const char NoProse = '\u2022';

    public static string OfMarkdown(string text)
    {
        foreach (var pattern in new[] { Fence(), InlineCode(), LinkTarget() })
            text = pattern.Replace(text, match => Blank(match.Value));
        return QuoteMark().Replace(text, " ");
    }

    public static string OfScript(string text) => OfComments(text, ScriptComment());

    public static string OfModel(string text) => OfComments(text, BlockComment());

    public static string OfSource(SourceText file)
    {
        var text = file.Text;
        var prose = text.Select(character => char.IsWhiteSpace(character) ? character : NoProse).ToArray();
        foreach (var trivia in file.Tree.GetRoot().DescendantTrivia())
        {
            if (trivia.GetStructure() is DocumentationCommentTriviaSyntax documentation)
                CopyDocumentation(documentation, text, prose);
            else if (trivia.IsKind(SyntaxKind.SingleLineCommentTrivia) || trivia.IsKind(SyntaxKind.MultiLineCommentTrivia))
                CopyComment(trivia.SpanStart, trivia.Span.End, text, prose);
        }

        foreach (var node in file.Tree.GetRoot().DescendantNodes())
        {
            if (node is LiteralExpressionSyntax literal && (literal.Span.Length >= MinString + 2 || literal.Token.Text.Contains(' ')))
                CopyString(literal.Token, prose);
            else if (node is InterpolatedStringExpressionSyntax interpolated)
                CopyInterpolated(interpolated, prose);
            else if (node is MethodDeclarationSyntax method)
                CopyTitle(method.Identifier, prose);
        }

        return new(prose);
    }

    private static string OfComments(string text, Regex comment)
    {
        var prose = Blank(text).ToCharArray();
        foreach (Match match in comment.Matches(text))
            CopyComment(match.Index, match.Index + match.Length, text, prose);
        return new(prose);
    }

    private static void CopyDocumentation(DocumentationCommentTriviaSyntax documentation, string text, char[] prose)
    {
        // The slashes before each line are trivia of the comment's tokens.
        foreach (var exterior in documentation.DescendantTrivia().Where(trivia => trivia.IsKind(SyntaxKind.DocumentationCommentExteriorTrivia)))
            Fill(prose, exterior.SpanStart, exterior.Span.End, ' ');
        foreach (var words in documentation.DescendantNodes(node => !IsCode(node)).OfType<XmlTextSyntax>())
        {
            foreach (var token in words.TextTokens.Where(token => !token.IsKind(SyntaxKind.XmlTextLiteralNewLineToken)))
                text.CopyTo(token.SpanStart, prose, token.SpanStart, token.Span.Length);
        }

        HideCode(documentation.FullSpan.Start, documentation.FullSpan.End, prose);
    }

    private static bool IsCode(SyntaxNode node) => node is XmlElementSyntax element && element.StartTag.Name.ToString() is "c" or "code";

    private static void CopyComment(int start, int end, string text, char[] prose)
    {
        text.CopyTo(start, prose, start, end - start);
        for (var i = start; i < end; i++)
        {
            if (prose[i] is '/' or '*' or '#')
                prose[i] = ' ';
        }

        HideCode(start, end, prose);
    }

    private static void CopyString(SyntaxToken token, char[] prose)
    {
        if (token.IsKind(SyntaxKind.StringLiteralToken) || token.IsKind(SyntaxKind.SingleLineRawStringLiteralToken)
            || token.IsKind(SyntaxKind.MultiLineRawStringLiteralToken))
            CopyWords(token, prose);
    }

    private static void CopyInterpolated(InterpolatedStringExpressionSyntax interpolated, char[] prose)
    {
        var words = interpolated.Contents.OfType<InterpolatedStringTextSyntax>().ToList();
        if (words.Sum(part => part.Span.Length) < MinString && !words.Any(part => part.TextToken.Text.Contains(' ')))
            return;
        foreach (var part in words)
            CopyWords(part.TextToken, prose);
    }

    // The name of a test is a sentence with underscores between its words.
    private static void CopyTitle(SyntaxToken name, char[] prose)
    {
        if (name.Text.Contains('_'))
            name.Text.Replace('_', ' ').CopyTo(0, prose, name.SpanStart, name.Span.Length);
    }

    // A letter behind a backslash begins no word: "\none" is not "none".
    private static void CopyWords(SyntaxToken token, char[] prose)
    {
        var text = Escape().Replace(token.Text, match => Blank(match.Value));
        text.CopyTo(0, prose, token.SpanStart, text.Length);
    }

    private static void HideCode(int start, int end, char[] prose)
    {
        foreach (var match in InlineCode().EnumerateMatches(prose.AsSpan(start, end - start)))
            Fill(prose, start + match.Index, start + match.Index + match.Length, NoProse);
    }

    private static void Fill(char[] prose, int start, int end, char filler) => prose.AsSpan(start, end - start).Fill(filler);

    private static string Blank(string text) => NotSpace().Replace(text, $"{NoProse}");

    [GeneratedRegex(@"^ *```.*?^ *```", RegexOptions.Singleline | RegexOptions.Multiline)]
    private static partial Regex Fence();

    [GeneratedRegex(@"(?<!\S)#.*")]
    private static partial Regex ScriptComment();

    [GeneratedRegex(@"/\*.*?\*/", RegexOptions.Singleline)]
    private static partial Regex BlockComment();

    [GeneratedRegex("`[^`]+`")]
    private static partial Regex InlineCode();

    [GeneratedRegex(@"(?<=\])\([^)]*\)")]
    private static partial Regex LinkTarget();

    [GeneratedRegex(@"^ *>", RegexOptions.Multiline)]
    private static partial Regex QuoteMark();

    [GeneratedRegex(@"\\[a-z0]")]
    private static partial Regex Escape();

    [GeneratedRegex(@"\S")]
    private static partial Regex NotSpace();
}
