using System.Reflection;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Voron.Documentation.Tests;

/// <summary>Compiles programs as a new console project does.</summary>
internal static class ProgramCompiler
{
    private const string ImplicitUsings = """
        global using System;
        global using System.Collections.Generic;
        global using System.IO;
        global using System.Linq;
        global using System.Net.Http;
        global using System.Threading;
        global using System.Threading.Tasks;
        """;

    private static readonly string[] WebUsings =
    [
        "System.Net.Http.Json", "Microsoft.AspNetCore.Builder", "Microsoft.AspNetCore.Hosting", "Microsoft.AspNetCore.Http",
        "Microsoft.AspNetCore.Routing", "Microsoft.Extensions.Configuration", "Microsoft.Extensions.DependencyInjection",
        "Microsoft.Extensions.Hosting", "Microsoft.Extensions.Logging",
    ];

    private static readonly Lazy<IReadOnlyList<MetadataReference>> References = new(() =>
    [
        .. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator).Select(path => MetadataReference.CreateFromFile(path)),
    ]);

    /// <summary>The source generators that a new project has; the build copies them here.</summary>
    private static readonly Lazy<IReadOnlyList<ISourceGenerator>> Generators = new(() =>
    [
        .. Directory.GetFiles(Path.Combine(AppContext.BaseDirectory, "generators"), "*.dll")
            .SelectMany(path => Assembly.LoadFrom(path).GetTypes())
            .Where(type => type.IsDefined(typeof(GeneratorAttribute), inherit: false) && typeof(IIncrementalGenerator).IsAssignableFrom(type))
            .Select(type => ((IIncrementalGenerator)Activator.CreateInstance(type)!).AsSourceGenerator()),
    ]);

    /// <summary>Compiles a program to an assembly in a file.</summary>
    /// <returns>The errors and warnings of the compiler.</returns>
    public static IReadOnlyList<Diagnostic> Compile(string code, string assemblyPath)
    {
        var parsing = new CSharpParseOptions(LanguageVersion.Latest, DocumentationMode.Diagnose);
        var isWeb = code.Contains("WebApplication.", StringComparison.Ordinal);
        var usings = ImplicitUsings + (isWeb ? string.Concat(WebUsings.Select(name => $"\nglobal using {name};")) : "");
        var options = new CSharpCompilationOptions(
            OutputKind.ConsoleApplication, nullableContextOptions: NullableContextOptions.Enable, optimizationLevel: OptimizationLevel.Release,
            specificDiagnosticOptions: [new("CS1591", ReportDiagnostic.Suppress)]);
        var compilation = CSharpCompilation.Create(
            Path.GetFileNameWithoutExtension(assemblyPath),
            [CSharpSyntaxTree.ParseText(usings, parsing), CSharpSyntaxTree.ParseText(code, parsing)],
            References.Value,
            options);
        using var file = File.Create(assemblyPath);
        CSharpGeneratorDriver.Create(Generators.Value, parseOptions: parsing)
            .RunGeneratorsAndUpdateCompilation(compilation, out var whole, out var reported);
        var result = whole.Emit(file);
        return [.. reported.Concat(result.Diagnostics).Where(diagnostic => diagnostic.Severity >= DiagnosticSeverity.Warning)];
    }
}
