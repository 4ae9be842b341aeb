using System.Text.RegularExpressions;

namespace Voron.Documentation.Tests;

/// <summary>A C# program in a document.</summary>
/// <param name="File">The document's path in the repository.</param>
/// <param name="Line">The line at which the program begins.</param>
/// <param name="Code">The program, with what the document leaves out, see <see cref="In"/>.</param>
/// <param name="Error">The id of the error with which the compiler must refuse it, or null.</param>
/// <param name="Output">The lines that it prints, or null if the document does not show them.</param>
internal sealed partial record DocumentedProgram(string File, int Line, string Code, string? Error, string? Output)
{
    /// <summary>
    /// Finds the programs of a document: each block of C#. A block of text right behind it, or behind "It prints:", is its output. A comment right
    /// before it gives what the reader need not see: <c>given:</c> code to put before it, or <c>refused: CS0619</c> for one that the compiler must
    /// refuse.
    /// </summary>
    public static IEnumerable<DocumentedProgram> In(string file)
    {
        var text = System.IO.File.ReadAllText(SourceTree.File(file)).ReplaceLineEndings("\n");
        foreach (Match match in Block().Matches(text))
        {
            var hidden = match.Groups["hidden"].Value;
            var given = GivenCode().Match(hidden).Groups[1].Value;
            var error = RefusedCode().Match(hidden) is { Success: true } refused ? refused.Groups[1].Value : null;
            var line = text.AsSpan(0, match.Groups["code"].Index).Count('\n') + 1;
            var output = match.Groups["output"] is { Success: true } printed ? printed.Value : null;
            yield return new DocumentedProgram(file, line, Join(given, match.Groups["code"].Value, line, file), error, output);
        }
    }

    /// <inheritdoc/>
    public override string ToString() => $"{File}:{Line}";

    // Directives for names come first in a program, wherever the document shows them.
    private static string Join(string given, string code, int line, string file)
    {
        var names = UsingDirective().Matches(given).Concat(UsingDirective().Matches(code)).Select(match => match.Value).Distinct();
        return $"{string.Join('\n', names)}\n{UsingDirective().Replace(given, "")}\n#line {line} \"{file}\"\n{UsingDirective().Replace(code, "")}";
    }

    [GeneratedRegex("(?<hidden>^<!--[^>]*?(?:given|refused):.*?-->\n+)?^```csharp\n(?<code>.*?)^```\n(?:\n*(?:It prints:\n\n)?```text\n(?<output>.*?)^```\n)?", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Block();

    [GeneratedRegex("given:(.*?)-->", RegexOptions.Singleline)]
    private static partial Regex GivenCode();

    [GeneratedRegex(@"refused:\s*([A-Z]+\d+)")]
    private static partial Regex RefusedCode();

    [GeneratedRegex(@"^using (?:static )?[\w.]+(?: = [^;]+)?;$", RegexOptions.Multiline)]
    private static partial Regex UsingDirective();
}
