using Spectre.Console;
using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Reporting;

internal static class ProbeTable
{
    public static Table Create(IReadOnlyList<ProbeResult> results)
    {
        Table table = Tables.Create(
            "Raw device: unbuffered write-through, sequential, into written blocks",
            "write", "us a write", "p50 us", "p99 us", "max us", "MB/s", "writes");
        foreach (ProbeResult result in results)
        {
            table.AddRow(
                $"{result.WriteBytes >> 10} KiB",
                Figures.Microseconds(result.MicrosecondsPerWrite),
                Figures.Microseconds(result.Latency.P50Microseconds),
                Figures.Microseconds(result.Latency.P99Microseconds),
                Figures.Microseconds(result.Latency.MaxMicroseconds),
                Figures.Decimal(result.MegabytesPerSecond),
                Figures.Count(result.Writes));
        }
        return table;
    }
}
