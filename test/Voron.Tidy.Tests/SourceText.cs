using System.Collections.Concurrent;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Voron.Tidy.Tests;

/// <summary>A source file as text, as lines, as code without comments and strings, and as a syntax tree.</summary>
internal sealed partial class SourceText
{
    private static readonly CSharpParseOptions ParseOptions = new(LanguageVersion.Latest, DocumentationMode.Parse);

    private static readonly ConcurrentDictionary<(string Directory, string Pattern), Lazy<List<SourceText>>> Loaded = new();

    private readonly Lazy<SyntaxTree> _tree;

    public SourceText(string path, string text)
    {
        Path = path;
        Text = text.ReplaceLineEndings("\n");
        Lines = Text.TrimEnd('\n').Split('\n');
        Code = Noise().Replace(text, match => match.Value.StartsWith('/') ? "" : "\"\"");
        _tree = new(() => CSharpSyntaxTree.ParseText(Text, ParseOptions, path));
    }

    /// <summary>Relative to the directory that was loaded, such as src/Voron, with slashes.</summary>
    public string Path { get; }

    /// <summary>The path without the file name; empty for the root.</summary>
    public string Folder => Path[..Math.Max(0, Path.LastIndexOf('/'))];

    /// <summary>The first folder of the path; empty for the root.</summary>
    public string TopFolder => Path[..Math.Max(0, Path.IndexOf('/'))];

    /// <summary>The file name with extension.</summary>
    public string Name => Path[(Path.LastIndexOf('/') + 1)..];

    public string Text { get; }

    public IReadOnlyList<string> Lines { get; }

    /// <summary>The text with comments cut out and strings emptied.</summary>
    public string Code { get; }

    /// <summary>The syntax as a release build sees it: no preprocessor symbol is defined.</summary>
    public SyntaxTree Tree => _tree.Value;

    /// <summary>All files of the engine.</summary>
    public static IReadOnlyList<SourceText> Engine => Load("src/Voron");

    /// <summary>The files below a directory, which are read and parsed only once.</summary>
    public static IReadOnlyList<SourceText> Load(string directory, string pattern = "*.cs") =>
        Loaded.GetOrAdd((directory, pattern), key => new(() => Read(key.Directory, key.Pattern))).Value;

    /// <summary>The number of the line, from 1, on which a node begins.</summary>
    public static int LineOf(SyntaxNode node) => node.GetLocation().GetLineSpan().StartLinePosition.Line + 1;

    public override string ToString() => Path;

    private static List<SourceText> Read(string directory, string pattern)
    {
        var files = SourceTree.Sources(directory, pattern)
            .Select(path => new SourceText(path, File.ReadAllText(SourceTree.File(System.IO.Path.Combine(directory, path)))))
            .ToList();
        files.Should().NotBeEmpty();
        return files;
    }

    [GeneratedRegex("""//[^\n]*|/\*.*?\*/|\$?"{3}.*?"{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])'""", RegexOptions.Singleline)]
    private static partial Regex Noise();
}
