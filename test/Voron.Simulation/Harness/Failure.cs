using System.Text.Json;

namespace Voron.Simulation.Harness;

/// <summary>The kind of a failure.</summary>
internal enum FailureKind
{
    /// <summary>The engine has broken a promise.</summary>
    Broken,

    /// <summary>A run does not end.</summary>
    Hang,

    /// <summary>The process has ended in the middle of a run.</summary>
    Death,

    /// <summary>Files or processes that the suite itself needs are not available: nothing is known about the engine.</summary>
    Machine,
}

/// <summary>A failure as it is saved, with enough information to run it again.</summary>
/// <param name="Suite">The suite that failed.</param>
/// <param name="Fault">The fault that was planted, or null.</param>
/// <param name="EngineVersion">The version of the engine that failed.</param>
/// <param name="Seed">The seed of the whole call; with the number of the run it determines the choices that were found first.</param>
/// <param name="Run">The number of the run.</param>
/// <param name="Message">The text of the exception.</param>
/// <param name="Choices">The number of choices before shrinking.</param>
/// <param name="Attempts">The number of scripts tried while shrinking.</param>
/// <param name="Script">The shortest script; null if a run cannot be replayed.</param>
/// <param name="Steps">The steps of the script, as far as the suite reports them.</param>
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

    /// <summary>The signature that it shares with other failures of its kind; see <see cref="FailureSignature"/>.</summary>
    public string Signature { get; init; } = "";

    /// <summary>Whether freed memory was inaccessible.</summary>
    public bool Guard { get; init; }

    /// <summary>The failure as it was found, if <see cref="Script"/> is a different one by now.</summary>
    public FailedRun? Found { get; init; }

    /// <summary>The path of the file in which it was saved.</summary>
    public string? Path { get; init; }

    public string FirstLine => Message.Split('\n', 2)[0].Trim();

    /// <summary>The arguments with which the failure can be reproduced.</summary>
    public string Replay =>
        Path is not null && Script is not null ? $"--replay {Path}"
        : $"--suite {Suite} --seed {Seed} --first {Run} --count 1 --threads 1{(Fault is null ? "" : $" --fault {Fault}")}{(Guard ? " --guard" : "")}";

    public static Failure Load(string path)
    {
        var failure = JsonSerializer.Deserialize<Failure>(File.ReadAllText(path), Ledger.Json)
            ?? throw new TortureException($"{path} holds no failure.");
        return failure with { Path = path };
    }

    public Failure Save(string directory)
    {
        Directory.CreateDirectory(directory);
        var path = System.IO.Path.Combine(directory, $"{Suite}-{Seed}-{Run}.json");
        File.WriteAllText(path, JsonSerializer.Serialize(this, Ledger.Json));
        return this with { Path = path };
    }
}

/// <param name="Message">The text of the exception.</param>
/// <param name="Script">The choices that lead to it.</param>
/// <param name="Steps">The same choices as steps, as far as the suite reports them.</param>
internal sealed record FailedRun(string Message, IReadOnlyList<long> Script, IReadOnlyList<string> Steps);

/// <summary>Thrown if this program was called with wrong arguments, or if something that it needs is missing.</summary>
internal sealed class TortureException(string message) : Exception(message);

/// <summary>Thrown if the engine has broken a promise.</summary>
internal sealed class BrokenPromiseException(string message, Exception? inner = null) : Exception(message, inner)
{
    /// <exception cref="BrokenPromiseException">The condition does not hold.</exception>
    /// <param name="holds">The condition that must be true.</param>
    /// <param name="message">The message of the exception if it is not.</param>
    public static void Require(bool holds, string message)
    {
        if (!holds)
            throw new BrokenPromiseException(message);
    }
}
