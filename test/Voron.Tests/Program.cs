using Voron.Tests.Crashes;

namespace Voron.Tests;

/// <summary>Runs the tests; or, in a process of its own, crash tests with a fault planted in the engine.</summary>
internal static class Program
{
    public static int Main(string[] args)
    {
        if (CrashHuntProcess.IsMeant(args))
            return CrashHuntProcess.RunChild(args);
        return args.Contains("--server") || args.Contains("--internal-msbuild-node")
            ? Xunit.MicrosoftTestingPlatform.TestPlatformTestFramework.RunAsync(args, SelfRegisteredExtensions.AddSelfRegisteredExtensions)
                .GetAwaiter().GetResult()
            : Xunit.Runner.InProc.SystemConsole.ConsoleRunner.Run(args).GetAwaiter().GetResult();
    }
}
