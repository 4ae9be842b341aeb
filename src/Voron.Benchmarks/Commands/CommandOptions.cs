using System.CommandLine;

namespace Voron.Benchmarks.Commands;

/// <summary>
/// The options of measuring commands: for each of them, the directory to measure in and the files that keep the results; and those that more than
/// one has.
/// </summary>
internal sealed class CommandOptions
{
    private const string DirectoryName = "--directory";
    private const string JsonName = "--json";
    private const string MarkdownName = "--markdown";
    private const string SvgName = "--svg";

    private readonly Option<string> _directory = new(DirectoryName)
    {
        Description = "A directory on the device to measure. The stores go into a new directory inside it, which is removed afterwards.",
        DefaultValueFactory = _ => Directory.GetCurrentDirectory(),
        HelpName = "DIR",
    };

    private readonly Option<string?> _json = new(JsonName) { Description = "Also writes everything measured to this file.", HelpName = "FILE" };
    private readonly Option<string?> _markdown = Markdown();

    private CommandOptions()
    {
    }

    public static Option<string?> Markdown() =>
        new(MarkdownName) { Description = "Also writes the report to this file, as Markdown.", HelpName = "FILE" };

    public static Option<string?> Svg() => new(SvgName) { Description = "Also writes a picture of the rates to this file.", HelpName = "FILE" };

    /// <summary>Creates a measuring command.</summary>
    /// <param name="measure">Measures, with the values of the options that the command has besides the common ones.</param>
    public static Command Create(
        string name, string description, Func<ParseResult, MeasuringSession, CancellationToken, Task> measure, params ReadOnlySpan<Option> options)
    {
        var common = new CommandOptions();
        var command = new Command(name, description);
        foreach (var option in (ReadOnlySpan<Option>)[.. options, common._directory, common._json, common._markdown])
            command.Options.Add(option);
        command.SetAction(async (parsed, stop) =>
        {
            using var session = common.Begin(parsed);
            await measure(parsed, session, stop).ConfigureAwait(false);
        });
        return command;
    }

    public static Option<int> Rounds(int usual = 5, string description = "How often each figure is measured.") =>
        Number("--rounds", description, usual);

    /// <summary>A number with a smallest value.</summary>
    public static Option<int> Number(string name, string description, int usual, int least = 1, bool orNone = false)
    {
        var option = new Option<int>(name) { Description = description, DefaultValueFactory = _ => usual };
        option.Validators.Add(result =>
        {
            if (result.Tokens.Count == 1 && result.GetValueOrDefault<int>() is var value && value < least && !(orNone && value == 0))
                result.AddError($"{name} must be {(orNone ? "0 or " : "")}at least {least:N0}.");
        });
        return option;
    }

    public static Option<double> Scale()
    {
        var option = new Option<double>("--scale")
        {
            Description = "Multiplies the number of items and operations of every workload.",
            DefaultValueFactory = _ => 1.0,
        };
        option.Validators.Add(result =>
        {
            if (result.Tokens.Count == 1 && !(result.GetValueOrDefault<double>() is > 0 and <= 100))
                result.AddError("--scale must be above 0 and at most 100.");
        });
        return option;
    }

    public static Option<string[]> Engines(params string[] usual) =>
        new("--engines") { Description = "The engines to measure.", AllowMultipleArgumentsPerToken = true, DefaultValueFactory = _ => usual };

    public static Option<int> TimeLimit(string description, int usualSeconds) =>
        new("--time-limit") { Description = description, DefaultValueFactory = _ => usualSeconds, HelpName = "SECONDS" };

    /// <exception cref="BenchmarkException">No engine has one of these names.</exception>
    public static EngineDescriptor[] FindEngines(IEnumerable<string> names) => [.. SplitNames(names).Select(EngineCatalog.Find)];

    /// <summary>Names may be separate arguments, or separated by commas.</summary>
    public static IEnumerable<string> SplitNames(IEnumerable<string> names) =>
        names.SelectMany(name => name.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries));

    /// <summary>The command line for the head of a report. Paths of this machine are replaced by placeholders.</summary>
    public static string CommandLine(IEnumerable<string> arguments)
    {
        var words = new List<string>();
        foreach (var argument in arguments)
        {
            words.Add((words.Count == 0 ? null : words[^1]) switch
            {
                DirectoryName => "DIR",
                JsonName or MarkdownName or SvgName => "FILE",
                _ => argument.AsSpan().ContainsAny(' ', '*') ? $"'{argument}'" : argument,
            });
        }
        return string.Join(' ', words);
    }

    private MeasuringSession Begin(ParseResult parsed) => new(
        parsed.GetRequiredValue(_directory), parsed.GetValue(_json), parsed.GetValue(_markdown),
        CommandLine(parsed.Tokens.Select(token => token.Value)));
}
