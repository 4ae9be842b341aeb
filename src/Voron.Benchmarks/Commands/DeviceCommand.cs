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
        var milliseconds = new Option<int>("--milliseconds")
        {
            Description = "How long each size, depth and state of the file is measured.",
            DefaultValueFactory = _ => 500,
        };
        var command = new Command("device", "Measures durable unbuffered writes of the device under a directory.") { directory, milliseconds };
        command.SetAction(parsed =>
        {
            using var area = new WorkArea(parsed.GetRequiredValue(directory), keep: false);
            AnsiConsole.WriteLine(MachineSummary.Describe(area.Path).ToString());
            Table table = Tables.Create(
                "Unbuffered write-through writes, one after the other in the file",
                "file", "write", "in flight", "writes/s", "MB/s", "p50 us", "p99 us", "p99.9 us", "max us");
            foreach (DeviceMatrixCell cell in DeviceMatrix.Run(area.Path, TimeSpan.FromMilliseconds(parsed.GetValue(milliseconds))))
            {
                table.AddRow(
                    cell.State.ToString().ToLowerInvariant(),
                    $"{cell.WriteBytes >> 10} KiB",
                    Figures.Count(cell.InFlight),
                    Figures.Count(cell.WritesPerSecond),
                    Figures.Decimal(cell.MegabytesPerSecond),
                    Figures.Microseconds(cell.Latency?.P50Microseconds),
                    Figures.Microseconds(cell.Latency?.P99Microseconds),
                    Figures.Microseconds(cell.Latency?.P999Microseconds),
                    Figures.Microseconds(cell.Latency?.MaxMicroseconds));
            }
            AnsiConsole.Write(table);
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
