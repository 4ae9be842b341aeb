using System.Diagnostics;
using System.Reflection;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Voron.Simulation.Harness;

/// <summary>Records the suites tried, and their results, over all calls, in a file to which each call adds.</summary>
internal static class Ledger
{
    private const int LockPauseMilliseconds = 20;

    private static readonly TimeSpan LockLimit = TimeSpan.FromSeconds(30);

    public static JsonSerializerOptions Json { get; } = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.CamelCase,
        WriteIndented = true,
        Converters = { new JsonStringEnumConverter() },
    };

    public static string EngineVersion { get; } =
        typeof(StorageEnvironment).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion
        ?? typeof(StorageEnvironment).Assembly.GetName().Version?.ToString()
        ?? "unknown";

    public static IReadOnlyList<SuiteResult> Load(string path) =>
        File.Exists(path) ? JsonSerializer.Deserialize<List<SuiteResult>>(File.ReadAllText(path), Json) ?? [] : [];

    /// <summary>
    /// Adds results. The file is replaced as a whole, so it is never half written. A lock file beside it is held meanwhile, so processes that
    /// add at the same time lose none of each other's results.
    /// </summary>
    public static void Add(string path, IReadOnlyList<SuiteResult> results)
    {
        if (Path.GetDirectoryName(path) is { Length: > 0 } directory)
            Directory.CreateDirectory(directory);
        using var held = Lock(path + ".lock");
        var next = path + ".new";
        File.WriteAllText(next, JsonSerializer.Serialize(Load(path).Concat(results), Json));
        File.Move(next, path, overwrite: true);
    }

    /// <summary>
    /// Returns the number of distinct runs and cases: runs that were repeated with the same seed count once. In an enumeration the seed
    /// determines the order, but not the set that is enumerated: there only the seed that came farthest counts.
    /// </summary>
    public static (long Runs, long Cases) Distinct(IEnumerable<SuiteResult> results)
    {
        (long Runs, long Cases) all = default;
        foreach (var suite in results.GroupBy(result => (result.Suite, result.IsEnumerated)))
        {
            (long Runs, long Cases)[] seeds = [.. suite.GroupBy(result => result.Seed).Select(DistinctOfSeed)];
            (long Runs, long Cases) sum = suite.Key.IsEnumerated
                ? seeds.MaxBy(seed => seed.Cases)
                : (seeds.Sum(seed => seed.Runs), seeds.Sum(seed => seed.Cases));
            all = (all.Runs + sum.Runs, all.Cases + sum.Cases);
        }
        return all;
    }

    // Runs are numbered: if a result overlaps those before it, only its new part counts.
    private static (long Runs, long Cases) DistinctOfSeed(IEnumerable<SuiteResult> results)
    {
        long end = 0;
        long runs = 0;
        double cases = 0;
        foreach (var result in results.OrderBy(result => result.FirstRun).ThenByDescending(result => result.Runs))
        {
            var added = Math.Max(0, result.FirstRun + result.Runs - Math.Max(end, result.FirstRun));
            runs += added;
            cases += added == 0 ? 0 : (double)result.Cases * added / result.Runs;
            end = Math.Max(end, result.FirstRun + result.Runs);
        }
        return (runs, (long)Math.Round(cases));
    }

    // The lock file is not deleted: a process that deleted it could remove it just after another process has opened it.
    private static FileStream Lock(string path)
    {
        var started = Stopwatch.GetTimestamp();
        while (true)
        {
            try
            {
                return new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
            }
            catch (IOException) when (Stopwatch.GetElapsedTime(started) < LockLimit)
            {
                Thread.Sleep(LockPauseMilliseconds);
            }
        }
    }
}

/// <summary>The result of one suite in one call.</summary>
/// <param name="Suite">The name of the suite.</param>
/// <param name="Unit">The unit of its cases.</param>
/// <param name="EngineVersion">The version of the engine under attack.</param>
/// <param name="Date">The time when the suite began.</param>
/// <param name="Fault">The fault that was planted, or null.</param>
/// <param name="Seed">The choices of each run follow from it and from the number of the run.</param>
/// <param name="FirstRun">The number of the first run.</param>
/// <param name="Runs">The number of runs made.</param>
/// <param name="Cases">The number of cases checked.</param>
/// <param name="AskedFor">The number of cases requested; fewer were checked if time ran out, a failure ended it, or there are no more.</param>
/// <param name="FullCount">The number of cases that a full run requests.</param>
/// <param name="IsComplete">Whether every existing run was made.</param>
/// <param name="Seconds">The duration in seconds.</param>
/// <param name="Tallies">Other counts.</param>
/// <param name="Failures">The failures found.</param>
/// <param name="NotCovered">The problems that this suite would not detect.</param>
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
    IReadOnlyList<string> NotCovered)
{
    /// <summary>Whether runs are entries of a list that is the same for every seed, except for its order.</summary>
    public bool IsEnumerated { get; init; }
}
