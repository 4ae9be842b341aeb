using System.Diagnostics;
using System.Globalization;
using Voron.Primitives;

namespace Voron.Tests.Crashes;

/// <summary>
/// This program once more, as another process: planted faults are decided when the engine is first used, for good.
/// By hand: <c>Voron.Tests --crash-hunt none 1 20000</c>.
/// </summary>
internal static class CrashHuntProcess
{
    public const int NothingFound = 0;
    public const int ViolationFound = 3;

    private const string Command = "--crash-hunt";

    public static bool IsMeant(string[] args) => args.Length == 4 && args[0] == Command;

    /// <summary>In the child: fault or "none", seed, number of images.</summary>
    public static int RunChild(string[] args)
    {
        AppContext.SetData("Voron.PlantedFault", args[1]);

        // An assertion of a debug build is a failure like any other, and not the end of the process.
        Trace.Listeners.Clear();
        Trace.Listeners.Add(new ThrowingListener());
        var watch = Stopwatch.StartNew();
        try
        {
            var seed = int.Parse(args[2], CultureInfo.InvariantCulture);
            var images = int.Parse(args[3], CultureInfo.InvariantCulture);

            // Only a disk that leaves garbage shows that an image is missing.
            var disk = args[1] == nameof(PlantedFault.LeaveImageOut) ? CrashDisk.GarbageWithImages : CrashDisk.Any;
            var counts = CrashHunt.Run(seed, images, threads: 2, disk);
            Console.WriteLine($"Nothing found: {counts}; {watch.Elapsed.TotalSeconds:F0} s");
            return NothingFound;
        }
        catch (CrashViolationException e)
        {
            Console.WriteLine($"{e.Message} {watch.Elapsed.TotalSeconds:F0} s");
            if (args[1] == "none")
                Console.WriteLine(e);
            return ViolationFound;
        }
    }

    /// <summary>Starts the child and waits for it.</summary>
    public static (int ExitCode, string Output) Start(string fault, int seed, int images)
    {
        var program = typeof(CrashHuntProcess).Assembly.Location;
        var self = Environment.ProcessPath ?? "dotnet";
        var isHost = Path.GetFileNameWithoutExtension(self).Equals("dotnet", StringComparison.OrdinalIgnoreCase);
        var isProgram = Path.GetFileNameWithoutExtension(self) == Path.GetFileNameWithoutExtension(program);
        var start = new ProcessStartInfo(isHost || isProgram ? self : "dotnet") { RedirectStandardOutput = true };
        if (!isProgram)
        {
            start.ArgumentList.Add("exec");
            start.ArgumentList.Add(program);
        }

        foreach (var argument in new[] { Command, fault, seed.ToString(CultureInfo.InvariantCulture), images.ToString(CultureInfo.InvariantCulture) })
            start.ArgumentList.Add(argument);
        using var process = Process.Start(start)!;
        var output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return (process.ExitCode, output.Trim());
    }

    private sealed class ThrowingListener : TraceListener
    {
        public override void Fail(string? message, string? detailMessage) => throw new CrashViolationException($"Assertion failed: {message} {detailMessage}");

        public override void Write(string? message)
        {
        }

        public override void WriteLine(string? message)
        {
        }
    }
}
