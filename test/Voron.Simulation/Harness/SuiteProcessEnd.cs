
namespace Voron.Simulation.Harness;

/// <summary>Describes how the process of a suite has ended, and its known state by then.</summary>
/// <param name="Suite">The suite.</param>
/// <param name="Plan">The plan of the process.</param>
/// <param name="Date">The time when it began.</param>
/// <param name="Result">The result that the process reported, if it came that far.</param>
/// <param name="IsOver">False if the process had to be killed.</param>
/// <param name="ExitCode">The exit code reported by the system.</param>
/// <param name="Errors">The first lines that the process wrote to its error stream.</param>
/// <param name="Noted">The progress of its runs.</param>
/// <param name="LastCases">The cases that were being tried, if the suite records them.</param>
/// <param name="Time">The duration.</param>
internal sealed record SuiteProcessEnd(
    Suite Suite,
    RunPlan Plan,
    DateTimeOffset Date,
    SuiteResult? Result,
    bool IsOver,
    int ExitCode,
    string Errors,
    RunMarks.Noted Noted,
    IReadOnlyList<string> LastCases,
    TimeSpan Time)
{
    /// <summary>The number of the run with which another process can continue, if this one had to end before its time.</summary>
    public long? GoOnAt =>
        Result?.Failures.All(failure => failure.Kind != FailureKind.Hang) == true || Noted.Next <= Plan.First ? null : Noted.Next;

    /// <summary>Returns the result of the process. If it reported none, its death counts as a failure like any other.</summary>
    public SuiteResult ResultOrDeath()
    {
        if (Result is not null)
            return Result;
        var saved = Saved();
        var death = Death();
        return new SuiteResult(
            Suite.Name, Suite.Unit, Ledger.EngineVersion, Date, Plan.Fault, Plan.Seed, Plan.First, Noted.Runs, Noted.Cases,
            Plan.Count == RunPlan.Full ? Suite.FullCount : Plan.Count, Suite.FullCount, false, Time.TotalSeconds, new Dictionary<string, long>(),
            [.. saved, Plan.FailureDirectory is { } directory ? death.Save(directory) : death], Suite.NotCovered)
        {
            IsEnumerated = Suite.Runs is not null,
        };
    }

    // The failures that it had found before: it may have died of a shorter script.
    private IReadOnlyList<Failure> Saved()
    {
        if (!Directory.Exists(Plan.FailureDirectory))
            return [];
        return
        [
            .. Directory.EnumerateFiles(Plan.FailureDirectory, $"{Suite.Name}-{Plan.Seed}-*.json")
                .Where(file => File.GetLastWriteTimeUtc(file) >= Date.UtcDateTime)
                .Select(Failure.Load),
        ];
    }

    private Failure Death()
    {
        var kind = !IsOver ? FailureKind.Hang : ExitCode == SuiteProcess.ExitWrongCall ? FailureKind.Machine : FailureKind.Death;
        var how = kind == FailureKind.Hang
            ? $"The process had to be ended after {Time.TotalSeconds:0} s."
            : $"The process has ended with {ExitCode}.";
        var where = Noted.UnderWay.Count == 0 ? "No run was under way." : $"Runs under way: {string.Join(", ", Noted.UnderWay)}.";
        var run = Noted.UnderWay is [var first, ..] ? first : Math.Max(Noted.Next, Plan.First);
        return new Failure(
            Suite.Name, Plan.Fault, Ledger.EngineVersion, Plan.Seed, run, $"{how} {where}\n{Errors}".TrimEnd(), 0, 0, null, LastCases)
        {
            Kind = kind,
            Guard = Plan.Guard,
            Signature = $"{kind} {ExitCode}",
        };
    }
}
