using System.CommandLine;
using System.Text;
using System.Text.Json;
using Spectre.Console;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Processes;
using Voron.Benchmarks.Reporting;

namespace Voron.Benchmarks.Commands;

/// <summary>The bare device, without any engine.</summary>
internal static class DeviceCommand
{
    private const string Title = "Unbuffered write-through writes, one after the other in the file";
    private const int TextColumns = 1;
    private static readonly string[] Columns =
        ["file", "write", "in flight", "writes/s", "MB/s", "p50 us", "p99 us", "p99.9 us", "max us"];

    public static Command Create()
    {
        Option<string> directory = CommonOptions.Directory();
        Option<string?> json = CommonOptions.Json();
        Option<string?> markdown = CommonOptions.Markdown();
        var milliseconds = new Option<int>("--milliseconds")
        {
            Description = "How long each size, depth and state of the file is measured.",
            DefaultValueFactory = _ => 500,
        };
        var command = new Command("device", "Measures durable unbuffered writes of the device under a directory.")
        {
            directory, milliseconds, json, markdown,
        };
        command.SetAction(parsed =>
        {
            using var area = new WorkArea(parsed.GetRequiredValue(directory));
            MachineSummary machine = MachineSummary.Describe(area.Path);
            AnsiConsole.WriteLine(machine.ToString());
            List<DeviceMatrixCell> cells = Measure(area.Path, TimeSpan.FromMilliseconds(parsed.GetValue(milliseconds)));
            Table table = Tables.Create(Title, Columns[0], Columns.AsSpan(1));
            foreach (DeviceMatrixCell cell in cells)
                table.AddRow(Row(cell));
            AnsiConsole.Write(table);
            if (parsed.GetValue(json) is { } jsonPath)
                File.WriteAllText(jsonPath, JsonSerializer.Serialize(new { machine, cells }, ResultFile.Json));
            if (parsed.GetValue(markdown) is { } markdownPath)
            {
                var text = new StringBuilder("## Device").AppendLine().AppendLine().AppendLine(machine.ToString());
                MarkdownTable.Append(text, Title, TextColumns, Columns, cells.Select(Row));
                File.WriteAllText(markdownPath, text.ToString());
            }
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

    private static List<DeviceMatrixCell> Measure(string directory, TimeSpan timePerCell)
    {
        var cells = new List<DeviceMatrixCell>();
        AnsiConsole.Progress()
            .AutoClear(true)
            .Columns(new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new RemainingTimeColumn())
            .Start(context =>
            {
                ProgressTask task = context.AddTask("device", maxValue: DeviceMatrix.Cells);
                foreach (DeviceMatrixCell cell in DeviceMatrix.Run(directory, timePerCell))
                {
                    cells.Add(cell);
                    task.Increment(1);
                }
            });
        return cells;
    }

    private static string[] Row(DeviceMatrixCell cell) =>
    [
        cell.State.ToString().ToLowerInvariant(),
        $"{cell.WriteBytes >> 10} KiB",
        Figures.Count(cell.InFlight),
        Figures.Count(cell.WritesPerSecond),
        Figures.Decimal(cell.MegabytesPerSecond),
        Figures.Microseconds(cell.Latency?.P50Microseconds),
        Figures.Microseconds(cell.Latency?.P99Microseconds),
        Figures.Microseconds(cell.Latency?.P999Microseconds),
        Figures.Microseconds(cell.Latency?.MaxMicroseconds),
    ];
}
