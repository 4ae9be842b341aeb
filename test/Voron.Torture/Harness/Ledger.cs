using System.Reflection;
using System.Text.Json;

namespace Voron.Torture.Harness;

/// <summary>What was tried, and with what result, over all calls: a file to which each call adds.</summary>
internal static class Ledger
{
    public static JsonSerializerOptions Json { get; } = new() { PropertyNamingPolicy = JsonNamingPolicy.CamelCase, WriteIndented = true };

    public static string EngineVersion { get; } =
        typeof(StorageEnvironment).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion
        ?? typeof(StorageEnvironment).Assembly.GetName().Version?.ToString()
        ?? "unknown";

    public static IReadOnlyList<SuiteResult> Load(string path) =>
        File.Exists(path) ? JsonSerializer.Deserialize<List<SuiteResult>>(File.ReadAllText(path), Json) ?? [] : [];

    /// <summary>Adds results; the file is replaced as a whole, so that it is never half written.</summary>
    public static void Add(string path, IReadOnlyList<SuiteResult> results)
    {
        string next = path + ".new";
        File.WriteAllText(next, JsonSerializer.Serialize(Load(path).Concat(results), Json));
        File.Move(next, path, overwrite: true);
    }
}

/// <summary>One suite in one call.</summary>
/// <param name="Suite">Its name.</param>
/// <param name="Unit">What its cases are.</param>
/// <param name="EngineVersion">Of what was attacked.</param>
/// <param name="Date">When it began.</param>
/// <param name="Fault">The fault that was planted, or null.</param>
/// <param name="Seed">The choices of each run follow from it and from the number of the run.</param>
/// <param name="FirstRun">The number of the first run.</param>
/// <param name="Runs">How many there were.</param>
/// <param name="Cases">How many cases they looked at.</param>
/// <param name="AskedFor">How many were asked for; fewer were looked at when time ran out, a failure ended it, or there are no more.</param>
/// <param name="FullCount">How many a full run asks for.</param>
/// <param name="IsComplete">Every run that there is was made.</param>
/// <param name="Seconds">How long it took.</param>
/// <param name="Tallies">What else was counted.</param>
/// <param name="Failures">What was found.</param>
/// <param name="NotCovered">What this suite would not see.</param>
internal sealed record SuiteResult(
    string Suite,
    string Unit,
    string EngineVersion,
    DateTimeOffset Date,
    string? Fault,
    long Seed,
    long FirstRun,
    long Runs,
    long Cases,
    long AskedFor,
    long FullCount,
    bool IsComplete,
    double Seconds,
    IReadOnlyDictionary<string, long> Tallies,
    IReadOnlyList<Failure> Failures,
    IReadOnlyList<string> NotCovered);
