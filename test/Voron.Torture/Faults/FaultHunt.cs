using System.Diagnostics;
using System.Globalization;
using Voron.Torture.Harness;

namespace Voron.Torture.Faults;

/// <summary>What became of a planted fault.</summary>
/// <param name="Fault">Which, and who looked for it.</param>
/// <param name="Finding">What was found, in one line; null when nothing was.</param>
/// <param name="Cases">Cases looked at.</param>
/// <param name="Seconds">How long it took, the start of the process with it.</param>
internal sealed record FaultOutcome(FaultCase Fault, string? Finding, long Cases, double Seconds);

/// <summary>
/// Runs a suite against an engine with a fault, in a process of its own: switches are decided when the engine is first used, for
/// good, and a broken engine may well end the process.
/// </summary>
internal static class FaultHunt
{
    private const int MaxFinding = 160;

    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(4);

    public static FaultOutcome Run(FaultCase fault, long seed)
    {
        string directory = Directory.CreateTempSubdirectory("voron-fault-").FullName;
        try
        {
            return Run(fault, seed, directory);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    private static FaultOutcome Run(FaultCase fault, long seed, string directory)
    {
        string ledger = Path.Combine(directory, "ledger.json");
        long started = Stopwatch.GetTimestamp();
        using Process process = Process.Start(StartInfo(
            "--suite", fault.Suite,
            "--fault", fault.Name,
            "--count", fault.Count.ToString(CultureInfo.InvariantCulture),
            "--seed", seed.ToString(CultureInfo.InvariantCulture),
            "--shrink-seconds", "0",
            "--failures", directory,
            "--ledger", ledger))!;
        process.OutputDataReceived += (_, _) => { };
        process.BeginOutputReadLine();
        Task<string> errors = process.StandardError.ReadToEndAsync();
        bool isOver = process.WaitForExit(Limit);
        if (!isOver)
            process.Kill(entireProcessTree: true);
        process.WaitForExit();

        double seconds = Stopwatch.GetElapsedTime(started).TotalSeconds;
        SuiteResult? result = Ledger.Load(ledger) is [.., var last] ? last : null;
        string? finding = result?.Failures is [var failure, ..] ? failure.FirstLine
            : !isOver ? $"still running after {Limit.TotalMinutes:0} minutes"
            : result is not null ? null
            : process.ExitCode == Program.ExitWrongCall ? throw new TortureException(errors.Result.Trim())
            : $"the process ended with {process.ExitCode}: {errors.Result.Split('\n')[0].Trim()}";
        if (finding?.Length > MaxFinding)
            finding = finding[..MaxFinding];
        return new FaultOutcome(fault, finding, result?.Cases ?? 0, seconds);
    }

    /// <summary>This same program with other arguments.</summary>
    private static ProcessStartInfo StartInfo(params ReadOnlySpan<string> arguments)
    {
        // Started by the tests, the running program is theirs; beside it lies this one.
        string assembly = typeof(FaultHunt).Assembly.Location;
        string self = Environment.ProcessPath ?? "dotnet";
        bool isThis = Path.GetFileNameWithoutExtension(self) == Path.GetFileNameWithoutExtension(assembly);
        bool isHost = Path.GetFileNameWithoutExtension(self).Equals("dotnet", StringComparison.OrdinalIgnoreCase);
        var start = new ProcessStartInfo(isThis || isHost ? self : "dotnet")
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
        };
        if (!isThis)
        {
            start.ArgumentList.Add("exec");
            start.ArgumentList.Add(assembly);
        }
        foreach (string argument in arguments)
            start.ArgumentList.Add(argument);
        return start;
    }
}
