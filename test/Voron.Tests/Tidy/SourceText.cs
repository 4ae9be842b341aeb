using System.Text.RegularExpressions;

namespace Voron.Tests.Tidy;

/// <summary>A file of the engine's source, with and without comments and strings.</summary>
internal sealed partial class SourceText
{
    private SourceText(string path, string text)
    {
        Path = path;
        Lines = text.ReplaceLineEndings("\n").TrimEnd('\n').Split('\n');
        Code = Noise().Replace(text, match => match.Value.StartsWith('/') ? "" : "\"\"");
    }

    /// <summary>The path from src/Voron on, with slashes.</summary>
    public string Path { get; }

    /// <summary>The layer: the first folder of the path; empty for the root.</summary>
    public string Folder => Path.Contains('/') ? Path[..Path.IndexOf('/')] : "";

    public IReadOnlyList<string> Lines { get; }

    /// <summary>The text with comments cut out and strings emptied.</summary>
    public string Code { get; }

    /// <summary>All files of the engine.</summary>
    public static IReadOnlyList<SourceText> Engine { get; } = Load("src/Voron");

    public static IReadOnlyList<SourceText> Load(string directory)
    {
        var files = SourceTree.Sources(directory)
            .Select(path => new SourceText(path, File.ReadAllText(SourceTree.File($"{directory}/{path}"))))
            .ToList();
        files.Should().NotBeEmpty();
        return files;
    }

    public override string ToString() => Path;

    [GeneratedRegex("""//[^\n]*|/\*.*?\*/|\$?"{3}.*?"{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])'""", RegexOptions.Singleline)]
    private static partial Regex Noise();
}
