using System.CommandLine;
using Spectre.Console;
using Voron.Simulation.Harness;
using Voron.Torture.Commands;

namespace Voron.Torture;

internal static class Program
{
    /// <summary>The exit code after a failure of the engine.</summary>
    public const int ExitFailure = 3;

    private const int RedirectedWidth = 160;

    public static int Main(string[] args)
    {
        WineFrames.Mend();
        EngineSetup.SwitchHooksOn();

        // The `scale` command and the suite of that name measure the engine's memory, so they keep its own allocator.
        if (!args.Contains("scale"))
            EngineSetup.GuardMemory();
        TemporaryPlace.Take();
        var root = TortureCommand.Create();
        if (Console.IsOutputRedirected)
            AnsiConsole.Profile.Width = RedirectedWidth;
        try
        {
            return root.Parse(args).Invoke(new InvocationConfiguration { EnableDefaultExceptionHandler = false });
        }
        catch (Exception e) when (e is TortureException or IOException or UnauthorizedAccessException)
        {
            Console.Error.WriteLine(e.Message);
            return SuiteProcess.ExitWrongCall;
        }
    }
}
