using System.CommandLine;
using Spectre.Console;
using Voron.Benchmarks.Commands;

namespace Voron.Benchmarks;

internal static class Program
{
    private const int ExitFailure = 1;
    private const int ExitCancelled = 130;

    /// <summary>Columns of a table that goes into a file or a pipe, where nothing says how wide it may be.</summary>
    private const int RedirectedWidth = 180;

    private static int Main(string[] args)
    {
        var root = new RootCommand("Measures Voron against its published figures, against its peers, and against the bare device.")
        {
            SeedsCommand.Create(),
            CompareCommand.Create(),
            DeviceCommand.Create(),
            ScaleCommand.Create(),
            SuitesCommand.Create(),
            RunOneCommand.Create(),
            HoldMemoryCommand.Create(),
        };
        if (Console.IsOutputRedirected)
            AnsiConsole.Profile.Width = RedirectedWidth;
        try
        {
            return root.Parse(args).Invoke(new InvocationConfiguration { EnableDefaultExceptionHandler = false });
        }
        catch (BenchmarkException error)
        {
            Say(error.Message);
            return ExitFailure;
        }
        catch (OperationCanceledException)
        {
            Say("Cancelled.");
            return ExitCancelled;
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            Say(error.Message);
            return ExitFailure;
        }
    }

    /// <summary>Errors go to standard error: standard output of a child run carries its result.</summary>
    private static void Say(string message)
    {
        IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(Console.Error) });
        console.MarkupLineInterpolated($"[red]{message}[/]");
    }
}
