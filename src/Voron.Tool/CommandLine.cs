using System.CommandLine;
using System.CommandLine.Parsing;

namespace Voron.Tool;

/// <summary>Runs a command line, of the tool or of its shell.</summary>
internal static class CommandLine
{
    // Otherwise a key that begins with @ would name a file with arguments.
    private static readonly ParserConfiguration Parsing = new() { ResponseFileTokenReplacer = null };

    /// <summary>Runs a command line.</summary>
    /// <param name="root">The commands.</param>
    /// <param name="words">The words of the line.</param>
    /// <param name="helpOf">Returns the command line that shows the help of a command, whose names it gets.</param>
    /// <param name="writers">The writer for answers, and that for errors.</param>
    /// <param name="stop">Cancels the command, which cleans up.</param>
    public static async Task<ExitCode> RunAsync(
        Command root, IReadOnlyList<string> words, Func<IEnumerable<string>, string> helpOf, (TextWriter Output, TextWriter Error) writers,
        CancellationToken stop)
    {
        var parsed = root.Parse(words, Parsing);
        List<string> mistakes = [.. UnknownOptions(parsed), .. parsed.Errors.Select(error => error.Message)];
        if (mistakes.Count > 0)
        {
            foreach (var mistake in mistakes)
                await writers.Error.WriteLineAsync(mistake).ConfigureAwait(false);
            await writers.Error.WriteLineAsync($"'{helpOf(NamesOf(parsed))}' shows what there is.").ConfigureAwait(false);
            return ExitCode.Usage;
        }

        var configuration = new InvocationConfiguration
        {
            EnableDefaultExceptionHandler = false,
            ProcessTerminationTimeout = null,
            Output = writers.Output,
            Error = writers.Error,
        };
        return (ExitCode)await parsed.InvokeAsync(configuration, stop).ConfigureAwait(false);
    }

    // The parser takes an unknown option for an argument, so that a misspelled one could become the name of a file or a value that is put.
    private static IEnumerable<string> UnknownOptions(ParseResult parsed)
    {
        var behind = parsed.Tokens.SkipWhile(token => token.Type != TokenType.DoubleDash).ToHashSet<Token>(ReferenceEqualityComparer.Instance);
        for (var command = parsed.CommandResult; command != null; command = command.Parent as CommandResult)
        {
            foreach (var token in command.Children.OfType<ArgumentResult>().SelectMany(argument => argument.Tokens))
            {
                if (token.Value is ['-', _, ..] && !behind.Contains(token))
                    yield return $"There is no option '{token.Value}'. To give an argument that begins with a dash, write '--' before it.";
            }
        }
    }

    private static List<string> NamesOf(ParseResult parsed)
    {
        var names = new List<string>();
        for (var command = parsed.CommandResult; command.Parent is CommandResult parent; command = parent)
            names.Insert(0, command.Command.Name);
        return names;
    }
}
