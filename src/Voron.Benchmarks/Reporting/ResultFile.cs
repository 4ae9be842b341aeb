using System.Text.Json;
using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Reporting;

/// <summary>The machine-readable form of a command's results.</summary>
internal sealed record ResultFile(
    DateTimeOffset Date, MachineSummary Machine, IReadOnlyList<ProbeResult> RawDevice, IReadOnlyList<RunResult> Results)
{
    public static JsonSerializerOptions Json { get; } = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.CamelCase,
        WriteIndented = true,
    };

    public void Save(string path) => File.WriteAllText(path, JsonSerializer.Serialize(this, Json));
}
