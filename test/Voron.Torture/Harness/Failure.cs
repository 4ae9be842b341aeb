using System.Text.Json;

namespace Voron.Torture.Harness;

/// <summary>What a failure is a failure of.</summary>
internal enum FailureKind
{
    /// <summary>The engine has broken a promise.</summary>
    Broken,

    /// <summary>A run does not end.</summary>
    Hang,

    /// <summary>The process has ended in the middle of a run.</summary>
    Death,

    /// <summary>Files or processes that the suite itself needs cannot be had: nothing is known about the engine.</summary>
    Machine,
}

/// <summary>A failure as it is kept: enough to run it again.</summary>
/// <param name="Suite">Which suite.</param>
/// <param name="Fault">The fault that was planted, or null.</param>
/// <param name="EngineVersion">Of what failed.</param>
/// <param name="Seed">Of the whole call; with the number of the run it gives the choices that were found first.</param>
/// <param name="Run">The number of the run.</param>
/// <param name="Message">What was thrown.</param>
/// <param name="Choices">How many choices there were before shrinking.</param>
/// <param name="Attempts">Scripts tried while shrinking.</param>
/// <param name="Script">The shortest script; null where a run cannot be replayed.</param>
/// <param name="Steps">What it does, as far as the suite tells.</param>
internal sealed record Failure(
    string Suite,
    string? Fault,
    string EngineVersion,
    long Seed,
    long Run,
    string Message,
    int Choices,
    int Attempts,
    IReadOnlyList<long>? Script,
    IReadOnlyList<string> Steps)
{
    public FailureKind Kind { get; init; }

    /// <summary>What it has in common with others of its kind; see <see cref="FailureSignature"/>.</summary>
    public string Signature { get; init; } = "";

    /// <summary>Freed memory was out of reach.</summary>
    public bool Guard { get; init; }

    /// <summary>As it was found, when <see cref="Script"/> is another one by now.</summary>
    public FailedRun? Found { get; init; }

    /// <summary>Where it was saved.</summary>
    public string? Path { get; init; }

    public string FirstLine => Message.Split('\n', 2)[0].Trim();

    /// <summary>How to see it again.</summary>
    public string Replay =>
        Path is not null && Script is not null ? $"--replay {Path}"
        : $"--suite {Suite} --seed {Seed} --first {Run} --count 1 --threads 1{(Fault is null ? "" : $" --fault {Fault}")}{(Guard ? " --guard" : "")}";

    public static Failure Load(string path)
    {
        Failure failure = JsonSerializer.Deserialize<Failure>(File.ReadAllText(path), Ledger.Json)
            ?? throw new TortureException($"{path} holds no failure.");
        return failure with { Path = path };
    }

    public Failure Save(string directory)
    {
        Directory.CreateDirectory(directory);
        string path = System.IO.Path.Combine(directory, $"{Suite}-{Seed}-{Run}.json");
        File.WriteAllText(path, JsonSerializer.Serialize(this, Ledger.Json));
        return this with { Path = path };
    }
}

/// <param name="Message">What was thrown.</param>
/// <param name="Script">The choices that lead there.</param>
/// <param name="Steps">The same, as far as the suite tells.</param>
internal sealed record FailedRun(string Message, IReadOnlyList<long> Script, IReadOnlyList<string> Steps);

/// <summary>A wrong call of this program, or something that it needs and does not find.</summary>
internal sealed class TortureException(string message) : Exception(message);

/// <summary>The engine has broken a promise.</summary>
internal sealed class BrokenPromiseException(string message, Exception? inner = null) : Exception(message, inner)
{
    /// <exception cref="BrokenPromiseException">It does not hold.</exception>
    /// <param name="holds">What has to be true.</param>
    /// <param name="message">What is said when it is not.</param>
    public static void Require(bool holds, string message)
    {
        if (!holds)
            throw new BrokenPromiseException(message);
    }
}
