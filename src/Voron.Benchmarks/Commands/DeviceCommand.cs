using System.CommandLine;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures the bare device, without any engine.</summary>
internal static class DeviceCommand
{
    public static Command Create()
    {
        var milliseconds = CommandOptions.Number("--milliseconds", "How long each combination of size, depth and file state is measured.", 500);
        return CommandOptions.Create(
            "device", "Measures durable unbuffered writes of the device under a directory.",
            async (parsed, session, _) =>
            {
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
                session.FinishWith(new Report("The bare device", [], [Table(cells)]), new { session.Machine, cells });
            },
            milliseconds);
    }

    private static string Name(DeviceMatrixCell cell) => cell.State.ToString().ToLowerInvariant();

    private static ReportTable Table(List<DeviceMatrixCell> cells) =>
        new TableOf<DeviceMatrixCell>("Unbuffered write-through writes, one after the other in the file")
            .Text("file", Name).Text("write", cell => $"{cell.WriteBytes >> 10} KiB").Count("in flight", cell => cell.InFlight)
            .Count("writes/s", cell => cell.WritesPerSecond).Decimal("MB/s", cell => cell.MegabytesPerSecond)
            .Microseconds("p50 us", cell => cell.Latency?.P50Microseconds).Microseconds("p99 us", cell => cell.Latency?.P99Microseconds)
            .Microseconds("p99.9 us", cell => cell.Latency?.P999Microseconds).Microseconds("max us", cell => cell.Latency?.MaxMicroseconds)
            .OfEach(cells);
}
