using System.CommandLine;
using Spectre.Console;
using Voron.Torture.Commands;
using Voron.Torture.Harness;

namespace Voron.Torture;

internal static class Program
{
    /// <summary>The call was wrong.</summary>
    public const int ExitWrongCall = 1;

    /// <summary>The engine has failed.</summary>
    public const int ExitFailure = 3;

    private const int RedirectedWidth = 160;

    public static int Main(string[] args)
    {
        WineFrames.Mend();
        EngineSetup.SwitchHooksOn();

        // Where memory is measured, the engine's own is looked at: the command and the suite of that name.
        if (!args.Contains("scale"))
            EngineSetup.GuardMemory();
        TemporaryPlace.Take();
        RootCommand root = TortureCommand.Create();
        if (Console.IsOutputRedirected)
            AnsiConsole.Profile.Width = RedirectedWidth;
        try
        {
            return root.Parse(args).Invoke(new InvocationConfiguration { EnableDefaultExceptionHandler = false });
        }
        catch (Exception e) when (e is TortureException or IOException or UnauthorizedAccessException)
        {
            Console.Error.WriteLine(e.Message);
            return ExitWrongCall;
        }
    }
}
