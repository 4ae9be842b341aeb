namespace Voron.Torture.Tests;

/// <summary>
/// The share of a suite's cases that the tests run: a twentieth, or all of them with <c>VORON_SUITES=full</c>, as <c>scripts/test-full.sh</c>
/// does before a release.
/// </summary>
internal static class SuiteShare
{
    private const long UsualDivisor = 20;

    private static bool IsFull => Environment.GetEnvironmentVariable("VORON_SUITES") == "full";

    /// <summary>Returns the number of cases to run, at least one.</summary>
    public static long Of(long cases) => IsFull ? cases : Math.Max(1, cases / UsualDivisor);
}
