using System.CommandLine;
using System.Runtime.CompilerServices;
using Spectre.Console;
using Voron.Benchmarks.Commands;

// Every native call passes plain numbers and pointers, so that no marshalling code runs inside a measured call.
[assembly: DisableRuntimeMarshalling]

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
            SuitesCommand.Create(),
            MemoryLimitsCommand.Create(),
            FootprintCommand.Create(),
            TablesCommand.Create(),
            FeedsCommand.Create(),
            DurabilityCommand.Create(),
            RunOneCommand.Create(),
            MemoryLimitsCommand.CreatePhase(),
        };
        if (Console.IsOutputRedirected)
            AnsiConsole.Profile.Width = RedirectedWidth;
        try
        {
            return root.Parse(args).Invoke(new InvocationConfiguration { EnableDefaultExceptionHandler = false });
        }
        catch (OperationCanceledException)
        {
            PrintError("Cancelled.");
            return ExitCancelled;
        }
        catch (Exception error) when (error is BenchmarkException or IOException or UnauthorizedAccessException)
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

/// <summary>An error that the user can fix. It is printed as one line, without a stack trace.</summary>
internal sealed class BenchmarkException(string message, Exception? inner = null) : Exception(message, inner);
