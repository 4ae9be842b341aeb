using System.CommandLine;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures the bare device, without any engine.</summary>
internal static class DeviceCommand
{
    private static readonly string[] Columns =
        ["file", "write", "in flight", "writes/s", "MB/s", "p50 us", "p99 us", "p99.9 us", "max us"];

    public static Command Create()
    {
        var output = new OutputOptions();
        var milliseconds = new Option<int>("--milliseconds")
        {
            Description = "How long each combination of size, depth and file state is measured.",
            DefaultValueFactory = _ => 500,
        };
        var command = new Command("device", "Measures durable unbuffered writes of the device under a directory.") { milliseconds };
        output.AddTo(command);
        command.SetAction(async (parsed, _) =>
        {
            using var session = output.Begin(parsed);
            var time = TimeSpan.FromMilliseconds(parsed.GetValue(milliseconds));
            var cells = new List<DeviceMatrixCell>();
            await MeasuringSession.ShowProgressAsync(DeviceMatrix.Cells, progress =>
            {
                foreach (var cell in DeviceMatrix.Run(session.Area.Path, time))
                {
                    cells.Add(cell);
                    progress.Description = Name(cell);
                    progress.Increment(1);
                }
                return Task.CompletedTask;
            }).ConfigureAwait(false);
            var table = new ReportTable(
                "Unbuffered write-through writes, one after the other in the file", TextColumns: 1, Columns, [.. cells.Select(Row)]);
            session.FinishWith(new Report("The bare device", [], [table]), new { session.Machine, cells });
        });
        return command;
    }

    private static string Name(DeviceMatrixCell cell) => cell.State.ToString().ToLowerInvariant();

    private static string[] Row(DeviceMatrixCell cell) =>
    [
        Name(cell),
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
