using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Voron.Tidy.Tests;

/// <summary>The types and members of one file: names, lengths, numbers of parameters.</summary>
internal sealed class FileShape(SourceText file)
{
    private readonly CompilationUnitSyntax _root = file.Tree.GetCompilationUnitRoot();

    public IEnumerable<string> TopTypeNames => TopTypes.Select(NameOf);

    /// <summary>Whether the file declares what its name says. A file of attributes or of statements of the program declares no type.</summary>
    public bool DeclaresItsSubject => !TopTypes.Any() || _root.Members.Any(member => member is GlobalStatementSyntax)
        || TopTypeNames.Contains(Subject);

    /// <summary>
    /// The types beside the subject, with their lines of code. Enums, delegates and records without a body are not counted: they serve the
    /// subject as parameters and results.
    /// </summary>
    public IReadOnlyList<(string Name, int Lines)> Companions => TopTypes
        .Where(type => NameOf(type) != Subject)
        .Where(type => type is not (EnumDeclarationSyntax or DelegateDeclarationSyntax or RecordDeclarationSyntax { Members.Count: 0 }))
        .Select(type => (NameOf(type), CodeLines(type))).ToList();

    /// <summary>
    /// Each method, constructor, operator and accessor, and the statements of a program, with their lines from the signature to the closing
    /// brace. Local functions count with the method around them.
    /// </summary>
    public IEnumerable<(int Line, string Name, int Lines)> MemberLengths
    {
        get
        {
            foreach (var member in _root.DescendantNodes().Where(node => node is BaseMethodDeclarationSyntax or AccessorDeclarationSyntax))
            {
                var first = LineOf(Signature(member).SpanStart);
                yield return (first, Describe(member), LineOf(member.Span.End) - first + 1);
            }

            var statements = _root.Members.OfType<GlobalStatementSyntax>().ToList();
            if (statements.Count != 0)
                yield return (LineOf(statements[0].SpanStart), "the program", LineOf(statements[^1].Span.End) - LineOf(statements[0].SpanStart) + 1);
        }
    }

    /// <summary>Each member that has parameters, with their number, except for functions of the system and overrides.</summary>
    public IEnumerable<(int Line, string Name, int Parameters)> ParameterCounts =>
        from list in _root.DescendantNodes().OfType<ParameterListSyntax>()
        let member = list.Parent!
        where member is BaseMethodDeclarationSyntax or LocalFunctionStatementSyntax or TypeDeclarationSyntax and not RecordDeclarationSyntax
        where !IsPrescribed(member)
        select (LineOf(Signature(member).SpanStart), Describe(member), list.Parameters.Count);

    /// <summary>The name of the type after which the file is named: <c>X</c> of <c>X.cs</c> and of <c>X.Part.cs</c>.</summary>
    private string Subject => file.Name[..file.Name.IndexOf('.', StringComparison.Ordinal)];

    /// <summary>The types of the file that are not nested in another.</summary>
    private IEnumerable<MemberDeclarationSyntax> TopTypes => _root
        .DescendantNodes(node => node is CompilationUnitSyntax or BaseNamespaceDeclarationSyntax)
        .OfType<MemberDeclarationSyntax>().Where(member => member is BaseTypeDeclarationSyntax or DelegateDeclarationSyntax);

    private static bool IsPrescribed(SyntaxNode member)
    {
        if (member is not MemberDeclarationSyntax { Modifiers: var modifiers, AttributeLists: var attributes })
            return false;
        return modifiers.Any(modifier => modifier.Kind() is SyntaxKind.ExternKeyword or SyntaxKind.OverrideKeyword)
            || attributes.SelectMany(list => list.Attributes)
                .Any(attribute => attribute.Name.ToString() is "LibraryImport" or "DllImport" or "LoggerMessage");
    }

    private static string NameOf(MemberDeclarationSyntax type) =>
        type is DelegateDeclarationSyntax function ? function.Identifier.Text : ((BaseTypeDeclarationSyntax)type).Identifier.Text;

    private static string Describe(SyntaxNode member) => member switch
    {
        MethodDeclarationSyntax method => method.Identifier.Text,
        ConstructorDeclarationSyntax constructor => $"the constructor of {constructor.Identifier.Text}",
        BaseTypeDeclarationSyntax type => $"the constructor of {type.Identifier.Text}",
        LocalFunctionStatementSyntax function => function.Identifier.Text,
        AccessorDeclarationSyntax { Parent.Parent: PropertyDeclarationSyntax property } accessor =>
            $"{property.Identifier.Text}.{accessor.Keyword.Text}",
        _ => member.Kind().ToString(),
    };

    /// <summary>The first token behind the attributes.</summary>
    private static SyntaxToken Signature(SyntaxNode member)
    {
        var attributes = member switch
        {
            MemberDeclarationSyntax declaration => declaration.AttributeLists,
            AccessorDeclarationSyntax accessor => accessor.AttributeLists,
            LocalFunctionStatementSyntax function => function.AttributeLists,
            _ => default,
        };
        return attributes.Count == 0 ? member.GetFirstToken() : attributes[^1].GetLastToken().GetNextToken();
    }

    private int CodeLines(SyntaxNode node) =>
        node.DescendantTokens().SelectMany(token => new[] { LineOf(token.SpanStart), LineOf(token.Span.End) }).Distinct().Count();

    private int LineOf(int position) => file.Tree.GetText().Lines.GetLineFromPosition(position).LineNumber + 1;
}
