using Voron.Torture.Harness;
using Voron.Torture.Suites;

namespace Voron.Torture.Faults;

/// <summary>What became of a planted fault.</summary>
/// <param name="Fault">Which, and who looked for it.</param>
/// <param name="Finding">What was found, in one line; null when nothing was.</param>
/// <param name="Missed">Why what happened instead is no finding; null where there is nothing to say.</param>
/// <param name="Cases">Cases looked at.</param>
/// <param name="Seconds">How long it took, the start of the process with it.</param>
internal sealed record FaultOutcome(FaultCase Fault, string? Finding, string? Missed, long Cases, double Seconds);

/// <summary>
/// Runs a suite against an engine with a fault, in a process of its own: switches are decided when the engine is first used, for
/// good, and a broken engine may well end the process.
/// </summary>
internal static class FaultHunt
{
    private const int MaxFinding = 160;

    /// <summary>Several times what the longest takes on a quiet machine of two processors.</summary>
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(10);

    public static FaultOutcome Run(FaultCase fault, long seed)
    {
        if (fault.UnfitHere is { } reason)
            return new FaultOutcome(fault, null, reason, 0, 0);
        SuiteProcessEnd end = Run(fault.Suite, fault.Count, fault.Seed ?? seed, fault.Name, fault.Guard);
        SuiteResult result = end.ResultOrDeath();
        (string? finding, string? missed) = Judge(fault, result.Failures);
        return new FaultOutcome(fault, Shorten(finding), Shorten(missed), result.Cases, end.Time.TotalSeconds);
    }

    /// <summary>
    /// The same runs without a fault: what they find has nothing to do with one. Null when that is nothing, as it should be.
    /// </summary>
    /// <param name="suite">Which suite.</param>
    /// <param name="cases">So many as the hunts with this seed came to.</param>
    /// <param name="seed">That of the hunts.</param>
    public static string? RunControl(string suite, long cases, long seed) =>
        Run(suite, cases + 1, seed, null, guard: false).ResultOrDeath().Failures is [var failure, ..] ? Shorten(failure.FirstLine) : null;

    /// <summary>
    /// A fault is found when a promise is seen broken. A run that hangs or a process that dies shows it only where that is what
    /// the fault does; a process that takes too long, or cannot work, shows nothing.
    /// </summary>
    internal static (string? Finding, string? Missed) Judge(FaultCase fault, IReadOnlyList<Failure> failures)
    {
        if (failures is not [var failure, ..])
            return (null, null);
        bool isFound = failure.Kind switch
        {
            FailureKind.Broken => fault.Shows is null || failure.Message.Contains(fault.Shows, StringComparison.Ordinal),
            FailureKind.Hang => fault.Hangs,
            FailureKind.Death => fault.EndsProcess,
            _ => false,
        };
        return isFound ? (failure.FirstLine, null) : (null, $"{failure.Kind}: {failure.FirstLine}");
    }

    private static SuiteProcessEnd Run(string suite, long count, long seed, string? fault, bool guard)
    {
        var plan = new RunPlan(count, seed) { Fault = fault, Guard = guard, ShrinkTime = TimeSpan.Zero };
        SuiteProcessEnd end = new SuiteProcess(SuiteCatalog.Find(suite), plan).Run(Limit);
        if (end.Result is null && end.IsOver && end.ExitCode == Program.ExitWrongCall)
            throw new TortureException($"{suite} could not run: {end.Errors}");
        return end;
    }

    private static string? Shorten(string? line) => line?.Length > MaxFinding ? line[..MaxFinding] : line;
}
