using System.Text.Json;
using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Reporting;

/// <summary>The results of a command in machine-readable form.</summary>
internal sealed record ResultFile(
    DateTimeOffset Date, MachineSummary Machine, IReadOnlyList<ProbeResult> RawDevice, IReadOnlyList<RunResult> Results)
{
    public static JsonSerializerOptions Json { get; } = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.CamelCase,
        WriteIndented = true,
    };
}
