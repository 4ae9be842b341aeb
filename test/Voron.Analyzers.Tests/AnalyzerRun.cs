using System.Collections.Concurrent;
using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;
using Voron.Analyzers.Disposal;
using Voron.Analyzers.GroupCommit;
using Voron.Analyzers.Keys;
using Voron.Analyzers.Lifetimes;

namespace Voron.Analyzers.Tests;

/// <summary>Compiles code against an engine, and runs all analyzers on it.</summary>
internal static class AnalyzerRun
{
    /// <summary>Marks code that does not compile.</summary>
    public const string ErrorsAreExpected = "// does not compile";

    // The compiler itself refuses a span that leaves the block of its tree. The rules report such spans too: then a code fix can copy them.
    private static readonly ImmutableArray<string> ScopeErrors = ["CS8156", "CS8166", "CS8168", "CS8347", "CS8349", "CS8350", "CS8352"];

    private static readonly Lazy<ImmutableArray<MetadataReference>> Framework =
        new(() => [.. Paths().Select(path => MetadataReference.CreateFromFile(path))]);

    private static readonly MetadataReference Engine = MetadataReference.CreateFromFile(typeof(StorageEnvironment).Assembly.Location);

    public static ImmutableArray<DiagnosticAnalyzer> Analyzers { get; } =
        [new DisposalAnalyzer(), new LifetimeAnalyzer(), new OperationAnalyzer(), new KeyCopyAnalyzer()];

    /// <summary>Compiles code with the engine that the tests run with.</summary>
    public static CSharpCompilation Compile(string code, string path = "Program.cs") => Compile(code, path, Engine);

    /// <summary>Compiles code with another assembly in place of the engine, or without one.</summary>
    public static CSharpCompilation Compile(string code, string path, params MetadataReference[] engine)
    {
        var tree = CSharpSyntaxTree.ParseText(code, new CSharpParseOptions(LanguageVersion.Latest), path);
        var hasStatements = tree.GetCompilationUnitRoot().Members.Any(member => member.RawKind == (int)SyntaxKind.GlobalStatement);
        var options = new CSharpCompilationOptions(
            hasStatements ? OutputKind.ConsoleApplication : OutputKind.DynamicallyLinkedLibrary,
            allowUnsafe: true, nullableContextOptions: NullableContextOptions.Enable);
        var compilation = CSharpCompilation.Create("Snippet", [tree], Framework.Value.AddRange(engine), options);
        if (code.Contains(ErrorsAreExpected, StringComparison.Ordinal))
            return compilation;
        var errors = compilation.GetDiagnostics(TestContext.Current.CancellationToken)
            .Where(found => found.Severity == DiagnosticSeverity.Error && !ScopeErrors.Contains(found.Id)).ToList();
        Assert.True(errors.Count == 0, $"The code does not compile:\n{string.Join('\n', errors)}");
        return compilation;
    }

    /// <summary>Compiles an assembly that takes the place of the engine.</summary>
    public static MetadataReference CompileEngine(string code)
    {
        var options = new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary);
        var compilation = CSharpCompilation.Create("Voron", [CSharpSyntaxTree.ParseText(code)], Framework.Value, options);
        using var image = new MemoryStream();
        var result = compilation.Emit(image);
        Assert.True(result.Success, string.Join('\n', result.Diagnostics));
        return MetadataReference.CreateFromImage(image.ToArray());
    }

    /// <summary>Returns the diagnostics of the analyzers, in the order of their places. A fault of an analyzer fails the test.</summary>
    public static async Task<IReadOnlyList<Diagnostic>> Diagnose(Compilation compilation)
    {
        var faults = new ConcurrentQueue<Exception>();
        var options = new CompilationWithAnalyzersOptions(
            new AnalyzerOptions([]), (fault, _, _) => faults.Enqueue(fault), concurrentAnalysis: true, logAnalyzerExecutionTime: false);
        var found = await compilation.WithAnalyzers(Analyzers, options).GetAnalyzerDiagnosticsAsync(TestContext.Current.CancellationToken);
        Assert.True(faults.IsEmpty, string.Join('\n', faults));
        return [.. found.OrderBy(diagnostic => diagnostic.Location.SourceSpan.Start)];
    }

    /// <summary>Describes diagnostics as a snippet describes those it expects.</summary>
    public static IReadOnlyList<string> Describe(IEnumerable<Diagnostic> diagnostics, int firstLine) =>
    [
        .. diagnostics.Select(diagnostic => Snippet.Place(
            diagnostic.Id,
            diagnostic.Location.GetLineSpan().StartLinePosition.Line + 1 - firstLine,
            diagnostic.Location.SourceTree!.GetText().ToString(diagnostic.Location.SourceSpan))),
    ];

    /// <summary>Checks that the analyzers report the marked places of members of a class, and no others.</summary>
    public static async Task Check(string members, string rule)
    {
        var snippet = Snippet.Members(members, rule);
        var found = await Diagnose(Compile(snippet.Code));
        Describe(found, Snippet.FirstLine).Should().Equal(snippet.Expected);
    }

    private static IEnumerable<string> Paths() =>
        ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(path => Path.GetFileName(path) is var name && (name.StartsWith("System.", StringComparison.Ordinal)
                || name is "netstandard.dll" or "mscorlib.dll" || name.StartsWith("Microsoft.Extensions.Logging", StringComparison.Ordinal)));
}
