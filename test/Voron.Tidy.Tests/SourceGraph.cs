using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Voron.Tidy.Tests;

/// <summary>
/// The references among the files of one project, taken from a compilation in memory. Each name in code is resolved to its symbol, and counts
/// as a use of the outermost type that declares it. Documentation comments and <c>nameof</c> use nothing. The files of a partial type count as
/// one, under the shortest of their paths.
/// </summary>
internal sealed class SourceGraph
{
    private const string ImplicitUsings = """
        global using System; global using System.Collections.Generic; global using System.IO; global using System.Linq;
        global using System.Net.Http; global using System.Threading; global using System.Threading.Tasks;
        """;

    private readonly Dictionary<string, string> _mainFiles = [];

    private SourceGraph(IReadOnlyList<SourceText> files)
    {
        Files = files.ToDictionary(file => file.Path);
        var implicitUsings = CSharpSyntaxTree.ParseText(ImplicitUsings, (CSharpParseOptions)files[0].Tree.Options);
        // Nullable analysis is off: it takes half of the time, and changes no reference.
        var compilation = CSharpCompilation.Create("Voron", [.. files.Select(file => file.Tree), implicitUsings], Framework(),
            new(OutputKind.DynamicallyLinkedLibrary, allowUnsafe: true));
        foreach (var type in Types(compilation.Assembly.GlobalNamespace))
            JoinFiles(DeclaringFiles(type));
        InternalTypes = Types(compilation.Assembly.GlobalNamespace)
            .Where(type => type.DeclaredAccessibility != Accessibility.Public).Select(type => type.Name).ToHashSet();

        var found = files.AsParallel().Select(file => (file.Path, Uses: Uses(compilation.GetSemanticModel(file.Tree)))).ToList();
        Unresolved = found.SelectMany(file => file.Uses.Unresolved).ToList();
        References = found
            .SelectMany(file => file.Uses.Symbols.Select(use => (From: MainFile(file.Path), To: MainFile(use.File), use.Symbol)))
            .Where(use => use.From != use.To)
            .GroupBy(use => (use.From, use.To))
            .Select(uses => new SourceReference(uses.Key.From, uses.Key.To, Names(uses.Select(use => use.Symbol))))
            .OrderBy(reference => reference.From, StringComparer.Ordinal).ThenBy(reference => reference.To, StringComparer.Ordinal)
            .ToList();
    }

    public IReadOnlyDictionary<string, SourceText> Files { get; }

    public IReadOnlyList<SourceReference> References { get; }

    /// <summary>The names of the outermost types that are not public.</summary>
    public IReadOnlySet<string> InternalTypes { get; }

    /// <summary>Names in code that have no symbol, with their places. Code that generators write is resolved by its declaration.</summary>
    public IReadOnlyList<string> Unresolved { get; }

    public static SourceGraph Of(IReadOnlyList<SourceText> files) => new(files);

    /// <summary>The file that stands for all files of the same partial types.</summary>
    public string MainFile(string path) => _mainFiles.TryGetValue(path, out var main) ? main : path;

    /// <summary>The strongly connected components of more than one file.</summary>
    public IReadOnlyList<IReadOnlyList<string>> Cycles()
    {
        var targets = References.ToLookup(reference => reference.From, reference => reference.To);
        return new StrongComponents(targets).All().Where(component => component.Count > 1).ToList();
    }

    private static IEnumerable<MetadataReference> Framework()
    {
        // The engine itself is among the assemblies of the test process.
        var paths = ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator);
        return paths.Where(path => !Path.GetFileName(path).StartsWith("Voron", StringComparison.Ordinal))
            .Select(path => MetadataReference.CreateFromFile(path));
    }

    private static IEnumerable<INamedTypeSymbol> Types(INamespaceSymbol space) =>
        space.GetTypeMembers().Concat(space.GetNamespaceMembers().SelectMany(Types));

    private static List<string> DeclaringFiles(INamedTypeSymbol type) =>
        type.DeclaringSyntaxReferences.Select(place => place.SyntaxTree.FilePath).Distinct().ToList();

    private void JoinFiles(List<string> files)
    {
        if (files.Count < 2)
            return;
        var joined = files.Select(MainFile).Distinct().OrderBy(path => path.Length).ThenBy(path => path, StringComparer.Ordinal).ToList();
        var members = _mainFiles.Where(pair => joined.Contains(pair.Value)).Select(pair => pair.Key).Concat(joined).ToList();
        foreach (var member in members)
            _mainFiles[member] = joined[0];
    }

    private static List<string> Names(IEnumerable<string> symbols) => symbols.Distinct().Order(StringComparer.Ordinal).ToList();

    private static (IReadOnlyCollection<(string File, string Symbol)> Symbols, List<string> Unresolved) Uses(SemanticModel model)
    {
        var uses = new HashSet<(string, string)>();
        var unresolved = new List<string>();
        foreach (var node in model.SyntaxTree.GetRoot().DescendantNodes(node => !IsNameOf(node)))
        {
            if (node is not (SimpleNameSyntax or ImplicitObjectCreationExpressionSyntax or ElementAccessExpressionSyntax))
                continue;
            var symbol = Symbol(model, node);
            if (symbol == null && node is SimpleNameSyntax && !IsNoReference(node))
                unresolved.Add($"{model.SyntaxTree.FilePath}:{SourceText.LineOf(node)} {node}");
            var type = symbol as INamedTypeSymbol ?? symbol?.ContainingType;
            while (type?.ContainingType != null)
                type = type.ContainingType;
            if (type == null || symbol is ITypeParameterSymbol or IParameterSymbol)
                continue;
            var text = symbol is INamedTypeSymbol or IMethodSymbol { MethodKind: MethodKind.Constructor } ? type.Name : $"{type.Name}.{symbol!.Name}";
            foreach (var place in type.DeclaringSyntaxReferences)
                uses.Add((place.SyntaxTree.FilePath, text));
        }

        return (uses, unresolved);
    }

    private static ISymbol? Symbol(SemanticModel model, SyntaxNode node)
    {
        var info = model.GetSymbolInfo(node);
        if (info.Symbol == null && info.CandidateSymbols.IsEmpty && node.FirstAncestorOrSelf<BracketedArgumentListSyntax>() != null)
        {
            // The model does not bind the length of a fixed buffer.
            var expression = node.Parent is MemberAccessExpressionSyntax access && access.Name == node ? access : node;
            info = model.GetSpeculativeSymbolInfo(node.SpanStart, expression, SpeculativeBindingOption.BindAsExpression);
        }

        return info.Symbol ?? info.CandidateSymbols.FirstOrDefault();
    }

    /// <summary>The name of an alias where it is declared, and constraints that are words of the language.</summary>
    private static bool IsNoReference(SyntaxNode name) =>
        name.Parent is NameEqualsSyntax { Parent: UsingDirectiveSyntax }
        || name is IdentifierNameSyntax { IsUnmanaged: true } or IdentifierNameSyntax { IsNotNull: true };

    private static bool IsNameOf(SyntaxNode node) =>
        node is InvocationExpressionSyntax { Expression: IdentifierNameSyntax { Identifier.Text: "nameof" } };
}
