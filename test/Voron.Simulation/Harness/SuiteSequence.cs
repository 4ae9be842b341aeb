using System.Diagnostics;

namespace Voron.Simulation.Harness;

/// <summary>Runs suites one after another within a shared time limit; the unused rest of a suite's share goes to the suites after it.</summary>
/// <param name="suites">The suites, in order.</param>
/// <param name="limit">
/// The time limit for all suites together. If suites end when they are asked to, they take at most about that long plus the least share.
/// </param>
/// <param name="run">
/// Runs a suite by a plan. Also returns the run at which another process must continue if this one ended before its time.
/// </param>
internal sealed class SuiteSequence(IReadOnlyList<Suite> suites, TimeSpan limit, Func<Suite, RunPlan, (SuiteResult Result, long? GoOnAt)> run)
{
    /// <summary>The number of different failures of a suite after which the next suite begins.</summary>
    public const int MaxFailures = 5;

    /// <summary>The least share of a suite: even when time is over, each suite makes a run.</summary>
    public static readonly TimeSpan MinShare = TimeSpan.FromSeconds(1);

    /// <param name="planOf">Returns the plan of a suite; its time limit and number of failures are decided here.</param>
    public IEnumerable<SuiteResult> Run(Func<Suite, RunPlan> planOf)
    {
        var started = Stopwatch.GetTimestamp();
        for (var i = 0; i < suites.Count; i++)
        {
            var share = (limit - Stopwatch.GetElapsedTime(started)) / (suites.Count - i);
            foreach (var result in Run(suites[i], planOf(suites[i]), share))
                yield return result;
        }
    }

    private IEnumerable<SuiteResult> Run(Suite suite, RunPlan plan, TimeSpan share)
    {
        var started = Stopwatch.GetTimestamp();
        var failures = 0;
        var left = share;
        do
        {
            var stretch = plan with { TimeLimit = left > MinShare ? left : MinShare, MaxFailures = MaxFailures - failures };
            (var result, var goOnAt) = run(suite, stretch);
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
