using System.CommandLine;
using System.CommandLine.Help;
using System.CommandLine.Parsing;
using Voron.Tool.Commands;

namespace Voron.Tool.Shell;

/// <summary>Runs lines as commands on one open environment, one after the other, whatever becomes of them.</summary>
internal sealed class ShellLoop
{
    // Shown where the command lines of the tool have its name.
    private const string Prompt = "voron>";

    private readonly Command _root;
    private readonly ShellInput _input;
    private readonly TextWriter _output;
    private readonly TextWriter _error;
    private readonly Interrupts _interrupts;
    private readonly bool _isInteractive;
    private bool _isOver;

    /// <param name="environment">The environment, which stays the caller's.</param>
    /// <param name="form">The form of answers, unless a line says otherwise.</param>
    /// <param name="input">The lines.</param>
    /// <param name="writers">Standard output and standard error.</param>
    /// <param name="interrupts">Cancels the running line.</param>
    /// <param name="isInteractive">Whether a person types the lines: they get a prompt, and may make mistakes.</param>
    public ShellLoop(
        OpenEnvironment environment, OutputForm form, ShellInput input, (TextWriter Output, TextWriter Error) writers, Interrupts interrupts,
        bool isInteractive)
    {
        _root = CreateRoot(environment, form);
        _input = input;
        (_output, _error) = writers;
        _interrupts = interrupts;
        _isInteractive = isInteractive;
    }

    /// <summary>Runs all lines.</summary>
    /// <returns>The exit code of the first line that failed. Those of a person do not count.</returns>
    /// <exception cref="OperationCanceledException">The shell was cancelled while it waited for a line.</exception>
    /// <exception cref="IOException">The input cannot be read, or the output cannot be written.</exception>
    public async Task<ExitCode> RunAsync(CancellationToken stop)
    {
        var first = ExitCode.Done;
        while (!_isOver)
        {
            stop.ThrowIfCancellationRequested();
            var code = await RunNextAsync(stop).ConfigureAwait(false);
            stop.ThrowIfCancellationRequested();

            // A script ends, because the person who pressed Ctrl-C sees one program, and no lines.
            if (code == ExitCode.Cancelled && !_isInteractive)
                return code;
            if (first == ExitCode.Done && !_isInteractive)
                first = code;
        }

        return first;
    }

    private async Task<ExitCode> RunNextAsync(CancellationToken stop)
    {
        if (_isInteractive)
        {
            await _output.WriteAsync(Prompt + " ").ConfigureAwait(false);
            await _output.FlushAsync(stop).ConfigureAwait(false);
        }

        try
        {
            var line = await _input.ReadAsync(stop).ConfigureAwait(false);
            _isOver = line == null;
            if (_isOver && _isInteractive)
                await _output.WriteLineAsync().ConfigureAwait(false);
            return string.IsNullOrWhiteSpace(line) ? ExitCode.Done : await RunAsync(line, stop).ConfigureAwait(false);
        }
        catch (ToolException failure)
        {
            await _error.WriteLineAsync(failure.Message).ConfigureAwait(false);
            return failure.Code;
        }
    }

    private async Task<ExitCode> RunAsync(string line, CancellationToken stop)
    {
        // The splitter would leave out what follows the last one.
        if (line.Count(one => one == '"') % 2 != 0)
            throw new ToolException(ExitCode.Usage, "A quotation mark has no other one. In a key or a value, write \\x22 for it.");
        using var running = _interrupts.BeginLine(stop);
        return await CommandLine.RunAsync(
            _root, [.. CommandLineParser.SplitCommandLine(line)], names => $"help {string.Join(' ', names)}".TrimEnd(), (_output, _error),
            running.Token).ConfigureAwait(false);
    }

    private Command CreateRoot(OpenEnvironment environment, OutputForm form)
    {
        var root = new Command(Prompt, "Commands on the open environment. Each reads the newest state; put and delete are a transaction each.")
        {
            GetCommand.Create(environment),
            ScanCommand.Create(environment),
            PutCommand.Create(environment),
            DeleteCommand.Create(environment),
            TreesCommand.Create(environment),
            StatsCommand.Create(environment),
            VerifyCommand.Create(environment),
            PageCommand.Create(environment),
            CreateHelp(),
            CreateExit(),
        };
        root.Options.Add(ToolContext.OutputOption(form));
        root.Options.Add(new HelpOption { Recursive = true });
        return root;
    }

    private Command CreateHelp()
    {
        var name = new Argument<string?>("COMMAND") { Description = "A command.", Arity = ArgumentArity.ZeroOrOne };
        return new Command("help", "Lists the commands, or the options of one.") { name }.Runs(async (parsed, _, stop) =>
        {
            var command = parsed.GetValue(name);
            if (command != null && _root.Subcommands.All(known => known.Name != command && !known.Aliases.Contains(command)))
                throw new ToolException(ExitCode.Usage, $"There is no command '{command}'.");
            string[] words = command == null ? ["--help"] : [command, "--help"];
            return (ExitCode)await _root.Parse(words).InvokeAsync(parsed.InvocationConfiguration, stop).ConfigureAwait(false);
        });
    }

    private Command CreateExit()
    {
        var command = new Command("exit", "Ends the shell; so does the end of the input, Ctrl-D.");
        command.Aliases.Add("quit");
        return command.Runs((_, _, _) =>
        {
            _isOver = true;
            return Task.FromResult(ExitCode.Done);
        });
    }
}
