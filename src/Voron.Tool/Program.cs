using System.CommandLine;
using System.Runtime.InteropServices;
using Voron.Tool.Commands;
using Voron.Tool.Streams;

namespace Voron.Tool;

internal static class Program
{
    private static async Task<int> Main(string[] arguments)
    {
        using var stop = new CancellationTokenSource();
        Console.CancelKeyPress += (_, pressed) => pressed.Cancel = Cancel(stop);
        using var terminated = PosixSignalRegistration.Create(PosixSignal.SIGTERM, signal => signal.Cancel = Cancel(stop));
        using var hungUp = PosixSignalRegistration.Create(PosixSignal.SIGHUP, signal => signal.Cancel = Cancel(stop));
        StandardStreams.NoticeClosedPipes();
        try
        {
            return await RunAsync(arguments, Console.Out, Console.Error, stop.Token).ConfigureAwait(false);
        }
        catch (IOException failure)
        {
            // Standard output cannot be written, perhaps nor standard error.
            await Console.Error.WriteLineAsync(failure.Message).ConfigureAwait(false);
            return (int)Failures.CodeOf(failure);
        }
    }

    /// <summary>Runs the tool.</summary>
    /// <param name="arguments">The command line.</param>
    /// <param name="output">Receives the answer.</param>
    /// <param name="error">Receives what went wrong.</param>
    /// <param name="stop">Cancels the command, which cleans up.</param>
    /// <returns>An <see cref="ExitCode"/>.</returns>
    public static async Task<int> RunAsync(string[] arguments, TextWriter output, TextWriter error, CancellationToken stop)
    {
        var root = CreateRoot();
        var parsed = root.Parse(arguments);
        if (parsed.Errors.Count > 0)
        {
            foreach (var mistake in parsed.Errors)
                await error.WriteLineAsync(mistake.Message).ConfigureAwait(false);
            await error.WriteLineAsync($"'{HelpOf(parsed)}' shows what there is.").ConfigureAwait(false);
            return (int)ExitCode.Usage;
        }

        var configuration = new InvocationConfiguration
        {
            EnableDefaultExceptionHandler = false,
            ProcessTerminationTimeout = null,
            Output = output,
            Error = error,
        };
        return await parsed.InvokeAsync(configuration, stop).ConfigureAwait(false);
    }

    public static RootCommand CreateRoot()
    {
        var root = new RootCommand("Looks into environments of Voron, verifies them, backs them up, restores, compacts, salvages, dumps and loads them.")
        {
            InfoCommand.Create(),
            StatsCommand.Create(),
            TreesCommand.Create(),
            GetCommand.Create(),
            ScanCommand.Create(),
            PutCommand.Create(),
            DeleteCommand.Create(),
            VerifyCommand.Create(),
            PageCommand.Create(),
            JournalCommand.Create(),
            ChangesCommand.Create(),
            BackupCommand.Create(),
            RestoreCommand.Create(),
            CopyCommand.Create(),
            CompactCommand.Create(),
            SalvageCommand.Create(),
            DumpCommand.Create(),
            LoadCommand.Create(),
            CompletionCommand.Create(),
        };
        root.Options.Add(ToolContext.Output);
        return root;
    }

    // The first signal lets the command clean up. The second one ends the process.
    private static bool Cancel(CancellationTokenSource stop)
    {
        if (stop.IsCancellationRequested)
            return false;
        stop.Cancel();
        return true;
    }

    private static string HelpOf(ParseResult parsed)
    {
        var names = new List<string>();
        for (var command = parsed.CommandResult; command is not null; command = command.Parent as System.CommandLine.Parsing.CommandResult)
        {
            if (command.Command is not RootCommand)
                names.Insert(0, command.Command.Name);
        }

        return string.Join(' ', ["voron", .. names, "--help"]);
    }
}
