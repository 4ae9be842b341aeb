using System.CommandLine;
using System.Runtime.InteropServices;
using Voron.Tool.Commands;
using Voron.Tool.Shell;
using Voron.Tool.Streams;

namespace Voron.Tool;

internal static class Program
{
    private static async Task<int> Main(string[] arguments)
    {
        using var stop = new CancellationTokenSource();
        var interrupts = new Interrupts(stop);
        Console.CancelKeyPress += (_, pressed) => pressed.Cancel = interrupts.Press() || End();
        using var terminated = PosixSignalRegistration.Create(PosixSignal.SIGTERM, signal => signal.Cancel = Cancel(stop));
        using var hungUp = PosixSignalRegistration.Create(PosixSignal.SIGHUP, signal => signal.Cancel = Cancel(stop));
        StandardStreams.NoticeClosedPipes();
        try
        {
            return await RunAsync(arguments, Console.Out, Console.Error, stop.Token, interrupts).ConfigureAwait(false);
        }
        catch (IOException failure)
        {
            // Standard output cannot be written, perhaps nor standard error.
            await Console.Error.WriteLineAsync(Failures.MessageOf(failure)).ConfigureAwait(false);
            return (int)Failures.CodeOf(failure);
        }
    }

    /// <summary>Runs the tool.</summary>
    /// <param name="arguments">The command line.</param>
    /// <param name="output">Receives the answer.</param>
    /// <param name="error">Receives what went wrong.</param>
    /// <param name="stop">Cancels the command, which cleans up.</param>
    /// <param name="interrupts">Cancels a line of the shell; null where nothing does.</param>
    /// <returns>An <see cref="ExitCode"/>.</returns>
    public static async Task<int> RunAsync(
        string[] arguments, TextWriter output, TextWriter error, CancellationToken stop, Interrupts? interrupts = null)
    {
        using var unused = new CancellationTokenSource();
        var root = CreateRoot(interrupts ?? new Interrupts(unused));
        string HelpOf(IEnumerable<string> names) => string.Join(' ', ["voron", .. names, "--help"]);
        return (int)await CommandLine.RunAsync(root, arguments, HelpOf, (output, error), stop).ConfigureAwait(false);
    }

    public static RootCommand CreateRoot(Interrupts interrupts)
    {
        var root = new RootCommand("Looks into environments of Voron, verifies them, backs them up, restores, compacts, salvages, dumps and loads them.")
        {
            InfoCommand.Create(),
            StatsCommand.Create(),
            TopCommand.Create(),
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
            ShellCommand.Create(interrupts),
            CompletionCommand.Create(),
        };
        root.Options.Add(ToolContext.OutputOption());
        return root;
    }

    // The first signal lets the command clean up. The second one ends the process.
    private static bool Cancel(CancellationTokenSource stop)
    {
        if (stop.IsCancellationRequested)
            return End();
        stop.Cancel();
        return true;
    }

    private static bool End()
    {
        ToolProgress.ShowCursor();
        return false;
    }
}
