using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;

namespace Voron.Benchmarks.Processes;

/// <summary>
/// Counts the instructions of a process of this program: by the processor's counters, or by simulation where there are none.
/// </summary>
/// <param name="Name">For the head of a column.</param>
/// <param name="Program">What runs the process.</param>
/// <param name="Arguments">Its own arguments.</param>
/// <param name="Mark">Stands beside the count.</param>
/// <param name="IsBeforeMark">On which side of it the count is.</param>
internal sealed record InstructionCounter(string Name, string Program, string[] Arguments, string Mark, bool IsBeforeMark)
{
    private const long SmallestCount = 1_000;

    private static readonly InstructionCounter Perf =
        new("perf stat, user", "perf", ["stat", "-x", " ", "-e", "instructions:u"], "instructions", true);

    private static readonly InstructionCounter Callgrind =
        new("callgrind", "valgrind", ["--tool=callgrind", "--callgrind-out-file=/dev/null", "--smc-check=all-non-file"], "Collected", false);

    /// <exception cref="BenchmarkException">Neither way is open.</exception>
    public static InstructionCounter Find()
    {
        foreach (InstructionCounter counter in (InstructionCounter[])[Perf, Callgrind])
        {
            if (counter.TryCount(["true"], out long count) && count > SmallestCount)
                return counter;
        }
        throw new BenchmarkException("Neither perf stat, with counters of the processor, nor valgrind is here: apt-get install linux-perf valgrind.");
    }

    /// <summary>Null when the process cannot live under this tool: a simulator does not know every call of the system.</summary>
    public long? Count(string benchmark, long times)
    {
        ProcessStartInfo self = MeasuringProcess.StartInfo("run-micro", "--name", benchmark, "--times", times.ToString(CultureInfo.InvariantCulture));
        return TryCount([self.FileName, .. self.ArgumentList], out long count) ? count : null;
    }

    private bool TryCount(string[] command, out long count)
    {
        count = 0;
        var start = new ProcessStartInfo(Program) { RedirectStandardOutput = true, RedirectStandardError = true, UseShellExecute = false };
        foreach (string argument in (string[])[.. Arguments, .. command])
            start.ArgumentList.Add(argument);

        // Compiled once and for good, and no heap larger than a simulator can map.
        start.Environment["DOTNET_TieredCompilation"] = "0";
        start.Environment["DOTNET_TieredPGO"] = "0";
        start.Environment["DOTNET_EnableWriteXorExecute"] = "0";
        start.Environment["DOTNET_GCHeapHardLimit"] = "0x20000000";
        try
        {
            using Process process = Process.Start(start)!;
            process.OutputDataReceived += (_, _) => { };
            process.BeginOutputReadLine();
            string errors = process.StandardError.ReadToEnd();
            process.WaitForExit();
            string? line = process.ExitCode != 0
                ? null
                : errors.Split('\n').FirstOrDefault(text => text.Contains(Mark, StringComparison.Ordinal));
            if (line is null)
                return false;
            int mark = line.IndexOf(Mark, StringComparison.Ordinal);
            string number = IsBeforeMark ? line[..mark] : line[(mark + Mark.Length)..];
            return long.TryParse(number.Trim(' ', ':'), CultureInfo.InvariantCulture, out count);
        }
        catch (Win32Exception)
        {
            return false;
        }
    }
}
