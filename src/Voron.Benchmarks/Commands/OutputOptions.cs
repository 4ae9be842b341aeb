using System.CommandLine;

namespace Voron.Benchmarks.Commands;

/// <summary>The options of every measuring command: the directory to measure in, and the files that keep the results.</summary>
internal sealed class OutputOptions
{
    private const string DirectoryName = "--directory";
    private const string JsonName = "--json";
    private const string MarkdownName = "--markdown";

    private readonly Option<string> _directory = new(DirectoryName)
    {
        Description = "A directory on the device to measure. The stores go into a new directory inside it, which is removed afterwards.",
        DefaultValueFactory = _ => Directory.GetCurrentDirectory(),
        HelpName = "DIR",
    };

    private readonly Option<string?> _json = new(JsonName)
    {
        Description = "Also writes everything measured to this file.",
        HelpName = "FILE",
    };

    private readonly Option<string?> _markdown = CreateMarkdown();

    public static Option<string?> CreateMarkdown() => new(MarkdownName)
    {
        Description = "Also writes the report to this file, as Markdown.",
        HelpName = "FILE",
    };

    public void AddTo(Command command)
    {
        command.Options.Add(_directory);
        command.Options.Add(_json);
        command.Options.Add(_markdown);
    }

    /// <summary>Begins a run with the values given on the command line.</summary>
    public MeasuringSession Begin(ParseResult parsed) => new(
        parsed.GetRequiredValue(_directory),
        parsed.GetValue(_json),
        parsed.GetValue(_markdown),
        CommandLine(parsed.Tokens.Select(token => token.Value)));

    /// <summary>The command line for the head of a report. Paths of this machine are replaced by placeholders.</summary>
    public static string CommandLine(IEnumerable<string> arguments)
    {
        var words = new List<string>();
        foreach (var argument in arguments)
        {
            var option = words.Count == 0 ? null : words[^1];
            words.Add(option switch
            {
                DirectoryName => "DIR",
                JsonName or MarkdownName => "FILE",
                _ => argument.AsSpan().ContainsAny(' ', '*') ? $"'{argument}'" : argument,
            });
        }
        return string.Join(' ', words);
    }
}
