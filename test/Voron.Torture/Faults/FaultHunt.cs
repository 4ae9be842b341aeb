using Voron.Simulation.Harness;
using Voron.Torture.Suites;

namespace Voron.Torture.Faults;

/// <summary>The outcome of the hunt for a planted fault.</summary>
/// <param name="Fault">The fault, and the suite that looked for it.</param>
/// <param name="Finding">The finding, in one line; null if there was none.</param>
/// <param name="Missed">The reason why the actual outcome is no finding; null if there is none to give.</param>
/// <param name="Cases">The number of cases examined.</param>
/// <param name="Seconds">The time that the hunt took, including the start of the process.</param>
internal sealed record FaultOutcome(FaultCase Fault, string? Finding, string? Missed, long Cases, double Seconds);

/// <summary>
/// Runs a suite against an engine with a fault, in a separate process: switches are decided for good when the engine is first used, and a
/// broken engine may well end the process.
/// </summary>
internal static class FaultHunt
{
    /// <summary>The seed of hunts that need no other one.</summary>
    public const long Seed = 1;

    private const int MaxFinding = 160;

    /// <summary>Several times as long as the longest hunt takes on a quiet machine with two processors.</summary>
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(10);

    /// <summary>Hunts a fault.</summary>
    /// <param name="fault">The fault.</param>
    /// <param name="seed">The seed.</param>
    /// <param name="first">The number of the first run.</param>
    public static FaultOutcome Run(FaultCase fault, long seed, long first = 0)
    {
        if (fault.UnfitHere is { } reason)
            return new FaultOutcome(fault, null, reason, 0, 0);
        var end = Run(fault.Suite, new RunPlan(fault.Count, seed) { First = first, Fault = fault.Name, Guard = fault.Guard });
        var result = end.ResultOrDeath();
        (var finding, var missed) = Judge(fault, result.Failures);
        return new FaultOutcome(fault, Shorten(finding), Shorten(missed), result.Cases, end.Time.TotalSeconds);
    }

    /// <summary>
    /// Performs the same runs without a fault: their findings are unrelated to the fault. Returns null if there are none, as there should
    /// be.
    /// </summary>
    /// <param name="suite">The suite.</param>
    /// <param name="cases">The number of cases that the hunts with this seed examined.</param>
    /// <param name="seed">The seed of the hunts.</param>
    /// <param name="first">The number of the run with which they began.</param>
    public static string? RunControl(string suite, long cases, long seed, long first) =>
        Run(suite, new RunPlan(cases + 1, seed) { First = first }).ResultOrDeath().Failures is [var failure, ..] ? Shorten(failure.FirstLine) : null;

    /// <summary>
    /// Decides whether a failure shows the fault. A fault is found when a promise is seen to be broken. A run that hangs or a process that
    /// dies shows the fault only if that is the fault's effect; a process that takes too long, or cannot work, shows nothing.
    /// </summary>
    internal static (string? Finding, string? Missed) Judge(FaultCase fault, IReadOnlyList<Failure> failures)
    {
        if (failures is not [var failure, ..])
            return (null, null);
        var isFound = failure.Kind switch
        {
            FailureKind.Broken => fault.Shows is null || failure.Message.Contains(fault.Shows, StringComparison.Ordinal),
            FailureKind.Hang => fault.Hangs,
            FailureKind.Death => fault.EndsProcess,
            _ => false,
        };
        return isFound ? (failure.FirstLine, null) : (null, $"{failure.Kind}: {failure.FirstLine}");
    }

    private static SuiteProcessEnd Run(string suite, RunPlan plan)
    {
        var end = new SuiteProcess(SuiteCatalog.Find(suite), plan with { ShrinkTime = TimeSpan.Zero }).Run(Limit);
        if (end.Result is null && end.IsOver && end.ExitCode == SuiteProcess.ExitWrongCall)
            throw new TortureException($"{suite} could not run: {end.Errors}");
        return end;
    }

    private static string? Shorten(string? line) => line?.Length > MaxFinding ? line[..MaxFinding] : line;
}
