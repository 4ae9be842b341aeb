using System.CommandLine;
using Spectre.Console;
using Voron.Benchmarks.Commands;

namespace Voron.Benchmarks;

internal static class Program
{
    private const int ExitFailure = 1;
    private const int ExitCancelled = 130;

    /// <summary>The width of tables in a file or a pipe, which have no width of their own.</summary>
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
            MemoryLimitsCommand.Create(),
            FootprintCommand.Create(),
            TablesCommand.Create(),
            FeedsCommand.Create(),
            DurabilityCommand.Create(),
            RunOneCommand.Create(),
            MemoryRunCommand.Create(),
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
            PrintError(error.Message);
            return ExitFailure;
        }
        catch (OperationCanceledException)
        {
            PrintError("Cancelled.");
            return ExitCancelled;
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            PrintError(error.Message);
            return ExitFailure;
        }
    }

    /// <summary>Prints to standard error, because the standard output of a child process carries its result.</summary>
    private static void PrintError(string message)
    {
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(Console.Error) });
        console.MarkupLineInterpolated($"[red]{message}[/]");
    }
}
