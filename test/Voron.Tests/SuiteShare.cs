namespace Voron.Tests;

/// <summary>
/// How much of their work the suites and the randomised or exhaustive tests do: a share, or all of it with <c>VORON_SUITES=full</c>, as
/// <c>scripts/test-full.sh</c> runs them before a release. Both make the same choices in each run.
/// </summary>
internal static class SuiteShare
{
    private const long CasesPerCase = 20;
    private const int RoundsPerRound = 5;

    /// <summary>Whether all of the work is done.</summary>
    public static bool IsFull { get; } = Environment.GetEnvironmentVariable("VORON_SUITES") == "full";

    /// <summary>Returns the number of a suite's cases to run: a twentieth, at least one.</summary>
    public static long Of(long cases) => IsFull ? cases : Math.Max(1, cases / CasesPerCase);

    /// <summary>Returns the number of a test's random rounds to make: a fifth, at least one.</summary>
    public static int Rounds(int rounds) => IsFull ? rounds : (rounds + RoundsPerRound - 1) / RoundsPerRound;

    /// <summary>Returns the distance between the places that an exhaustive test tries: one where all are tried.</summary>
    public static int Step(int usual) => IsFull ? 1 : usual;
}
