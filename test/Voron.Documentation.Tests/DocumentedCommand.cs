using System.Text.RegularExpressions;

namespace Voron.Documentation.Tests;

/// <summary>A command line in a document, or what has to be there before one.</summary>
/// <param name="Line">The line of the document at which it begins.</param>
/// <param name="Text">What a shell runs.</param>
/// <param name="ExitCode">The exit code that it has.</param>
/// <param name="Output">The lines of its answer that the document shows, in their order.</param>
internal sealed partial record DocumentedCommand(int Line, string Text, int ExitCode, IReadOnlyList<string> Output)
{
    /// <summary>What the document shows as the directory in which the commands run.</summary>
    public const string ShownDirectory = "/srv/shop";

    private const string LeftOut = "...";

    /// <summary>
    /// Finds the commands of a document: the lines that begin with <c>$ </c> in its blocks of <c>console</c>. They continue behind a backslash at the
    /// end. The lines behind one are its answer, of which <c>...</c> leaves out lines, or a part of one. A command fails if it ends in
    /// <c># exit code</c> and a number. A comment that begins with <c>shell:</c> has commands that the reader need not see.
    /// </summary>
    public static IEnumerable<DocumentedCommand> In(string text)
    {
        text = text.ReplaceLineEndings("\n");
        foreach (Match block in Block().Matches(text))
        {
            if (block.Groups["hidden"] is { Success: true } hidden)
                yield return new DocumentedCommand(LineOf(text, hidden.Index), hidden.Value, 0, []);
            var shown = block.Groups["shown"];
            foreach (Match command in Command().Matches(shown.Value))
            {
                var failure = Failure().Match(command.Groups["text"].Value);
                var output = command.Groups["output"].Value.Split('\n').Where(line => line.Trim() is not ("" or LeftOut));
                yield return new DocumentedCommand(
                    LineOf(text, shown.Index + command.Index),
                    command.Groups["text"].Value,
                    failure.Success ? int.Parse(failure.Groups[1].ValueSpan, System.Globalization.CultureInfo.InvariantCulture) : 0,
                    [.. output]);
            }
        }
    }

    /// <summary>Returns the first line that the document shows and that the answer does not have, in that order; null if there is none.</summary>
    /// <param name="answer">What the command has written.</param>
    /// <param name="directory">The directory in which it ran.</param>
    public string? FirstMissing(string answer, string directory)
    {
        var lines = new Queue<string>(answer.Replace(directory, ShownDirectory, StringComparison.Ordinal).Split('\n').Select(Normalize));
        return Output.FirstOrDefault(shown => !IsFound(Normalize(shown), lines));
    }

    private static int LineOf(string text, int index) => text.AsSpan(0, index).Count('\n') + 1;

    private static bool IsFound(string shown, Queue<string> lines)
    {
        var pattern = $"^{EscapedGap().Replace(Regex.Escape(shown), ".*")}$";
        while (lines.TryDequeue(out var line))
        {
            if (Regex.IsMatch(line, pattern))
                return true;
        }

        return false;
    }

    // Ids, times, sizes and durations are others in each run. Keys and numbers below a thousand must be right.
    private static string Normalize(string line)
    {
        line = Id().Replace(line, "ID");
        line = BackupName().Replace(line, "$1-NAME");
        line = Changing().Replace(line, "N");
        return Gap().Replace(line, " ").Trim();
    }

    [GeneratedRegex("^<!-- shell:\n(?<hidden>.*?)-->$|^```console\n(?<shown>.*?)^```$", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Block();

    [GeneratedRegex(@"^\$ (?<text>(?:.*\\\n)*.*)\n(?<output>(?:(?!\$ ).*\n)*)", RegexOptions.Multiline)]
    private static partial Regex Command();

    [GeneratedRegex(@"# exit code (\d+)")]
    private static partial Regex Failure();

    [GeneratedRegex("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9A-F]{16}")]
    private static partial Regex Id();

    [GeneratedRegex(@"\b(full|incr)-[\w.+-]+(?=\.vback)")]
    private static partial Regex BackupName();

    [GeneratedRegex(@"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d(?:\.\d+)?|\d+(?:,\d{3})+(?:\.\d+)?|(?<![-\w])\d{4,}|\d+\.\d+")]
    private static partial Regex Changing();

    [GeneratedRegex(@"(?:\\ )?\\\.\\\.\\\.(?:\\ )?")]
    private static partial Regex EscapedGap();

    // Tables are as wide as their content.
    [GeneratedRegex(@"[\s─]+")]
    private static partial Regex Gap();
}
