using System.Diagnostics;
using System.Reflection;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Voron.Torture.Harness;

/// <summary>What was tried, and with what result, over all calls: a file to which each call adds.</summary>
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
    /// Adds results; the file is replaced as a whole, so that it is never half written, under a lock beside it, so that processes that
    /// add at the same time lose nothing of each other's.
    /// </summary>
    public static void Add(string path, IReadOnlyList<SuiteResult> results)
    {
        if (Path.GetDirectoryName(path) is { Length: > 0 } directory)
            Directory.CreateDirectory(directory);
        using FileStream held = Lock(path + ".lock");
        string next = path + ".new";
        File.WriteAllText(next, JsonSerializer.Serialize(Load(path).Concat(results), Json));
        File.Move(next, path, overwrite: true);
    }

    /// <summary>
    /// Runs and cases that differ: what was run again with the same seed counts once. The order of an enumeration follows from the
    /// seed, but not what is enumerated: there only the seed that came farthest counts.
    /// </summary>
    public static (long Runs, long Cases) Distinct(IEnumerable<SuiteResult> results)
    {
        (long Runs, long Cases) all = default;
        foreach (IGrouping<(string Suite, bool IsEnumerated), SuiteResult> suite in results.GroupBy(result => (result.Suite, result.IsEnumerated)))
        {
            (long Runs, long Cases)[] seeds = [.. suite.GroupBy(result => result.Seed).Select(DistinctOfSeed)];
            (long Runs, long Cases) sum = suite.Key.IsEnumerated
                ? seeds.MaxBy(seed => seed.Cases)
                : (seeds.Sum(seed => seed.Runs), seeds.Sum(seed => seed.Cases));
            all = (all.Runs + sum.Runs, all.Cases + sum.Cases);
        }
        return all;
    }

    // Runs are numbered: of those that overlap what came before, the part that is new.
    private static (long Runs, long Cases) DistinctOfSeed(IEnumerable<SuiteResult> results)
    {
        long end = 0;
        long runs = 0;
        double cases = 0;
        foreach (SuiteResult result in results.OrderBy(result => result.FirstRun).ThenByDescending(result => result.Runs))
        {
            long added = Math.Max(0, result.FirstRun + result.Runs - Math.Max(end, result.FirstRun));
            runs += added;
            cases += added == 0 ? 0 : (double)result.Cases * added / result.Runs;
            end = Math.Max(end, result.FirstRun + result.Runs);
        }
        return (runs, (long)Math.Round(cases));
    }

    // Stays there: whoever deleted it could take it from under another who has just opened it.
    private static FileStream Lock(string path)
    {
        long started = Stopwatch.GetTimestamp();
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
    IReadOnlyList<string> NotCovered)
{
    /// <summary>Runs are numbers of a list that is the same for every seed, but for its order.</summary>
    public bool IsEnumerated { get; init; }
}
