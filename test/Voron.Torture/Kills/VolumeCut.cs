using System.Diagnostics;
using Voron.Simulation.Harness;

namespace Voron.Torture.Kills;

/// <summary>
/// Cuts the power of a volume, as far as a program can, with a command that the caller gives in an environment variable. It is run once
/// while the process that is to be killed works, and once when that process is dead, before its files are checked. Without the command, a
/// process is only killed.
/// </summary>
internal static class VolumeCut
{
    /// <summary>The directory to work in instead of the directory for temporary files; null for the latter.</summary>
    public static string? Volume { get; } = Environment.GetEnvironmentVariable("VORON_VOLUME");

    private static readonly string? Command = Environment.GetEnvironmentVariable("VORON_VOLUME_CUT");

    public static bool IsOn => Command is not null;

    public static void CutPower() => Run("cut");

    public static void Restore() => Run("restore");

    private static void Run(string what)
    {
        if (Command is null)
            return;
        using var process = Process.Start(Command, [what]);
        process.WaitForExit();
        if (process.ExitCode != 0)
            throw new TortureException($"'{Command} {what}' ended with {process.ExitCode}.");
    }
}
