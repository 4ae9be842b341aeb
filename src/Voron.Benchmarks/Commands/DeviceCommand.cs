using System.CommandLine;
using Spectre.Console;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Processes;
using Voron.Benchmarks.Reporting;

namespace Voron.Benchmarks.Commands;

/// <summary>The bare device, without any engine.</summary>
internal static class DeviceCommand
{
    public static Command Create()
    {
        Option<string> directory = CommonOptions.Directory();
        var command = new Command("device", "Measures durable sequential writes of the device under a directory.") { directory };
        command.SetAction(parsed =>
        {
            using var area = new WorkArea(parsed.GetRequiredValue(directory), keep: false);
            AnsiConsole.WriteLine(MachineSummary.Describe(area.Path).ToString());
            AnsiConsole.Write(ProbeTable.Create(RawDeviceProbe.Run(area.Path)));
        });
        return command;
    }

    /// <summary>As a preface to other figures: a place without unbuffered writes is worth a word there, not an end.</summary>
    public static IReadOnlyList<ProbeResult> Preface(string directory)
    {
        try
        {
            IReadOnlyList<ProbeResult> results = RawDeviceProbe.Run(directory);
            AnsiConsole.Write(ProbeTable.Create(results));
            return results;
        }
        catch (BenchmarkException error)
        {
            AnsiConsole.MarkupLineInterpolated($"[yellow]{error.Message}[/]");
            return [];
        }
    }
}
