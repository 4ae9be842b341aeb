using System.Diagnostics;

namespace Voron.Torture.Harness;

/// <summary>Runs suites one after the other within a time, which they share; what one leaves of its share goes to those after it.</summary>
/// <param name="suites">In their order.</param>
/// <param name="limit">For all together; no more than about that, and the least share, is taken by suites that end when they are told to.</param>
/// <param name="run">Runs a suite by a plan, and tells where another process has to go on when this one came to its end before its time.</param>
internal sealed class SuiteSequence(IReadOnlyList<Suite> suites, TimeSpan limit, Func<Suite, RunPlan, (SuiteResult Result, long? GoOnAt)> run)
{
    /// <summary>Different failures of a suite after which the next one begins.</summary>
    public const int MaxFailures = 5;

    /// <summary>Even when time is over, each suite makes a run.</summary>
    public static readonly TimeSpan MinShare = TimeSpan.FromSeconds(1);

    /// <param name="planOf">What a suite is to do; its time and its failures are decided here.</param>
    public IEnumerable<SuiteResult> Run(Func<Suite, RunPlan> planOf)
    {
        long started = Stopwatch.GetTimestamp();
        for (int i = 0; i < suites.Count; i++)
        {
            TimeSpan share = (limit - Stopwatch.GetElapsedTime(started)) / (suites.Count - i);
            foreach (SuiteResult result in Run(suites[i], planOf(suites[i]), share))
                yield return result;
        }
    }

    private IEnumerable<SuiteResult> Run(Suite suite, RunPlan plan, TimeSpan share)
    {
        long started = Stopwatch.GetTimestamp();
        int failures = 0;
        TimeSpan left = share;
        do
        {
            RunPlan stretch = plan with { TimeLimit = left > MinShare ? left : MinShare, MaxFailures = MaxFailures - failures };
            (SuiteResult result, long? goOnAt) = run(suite, stretch);
            yield return result;
            failures += result.Failures.Count;
            if (goOnAt is not { } next)
                yield break;
            plan = plan with { First = next };
            left = share - Stopwatch.GetElapsedTime(started);
        }
        while (left > MinShare && failures < MaxFailures);
    }
}
