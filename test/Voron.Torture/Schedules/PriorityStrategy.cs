using Voron.Simulation.Harness;

namespace Voron.Torture.Schedules;

/// <summary>
/// Runs the thread with the highest priority. Priorities are random; at a few places, also random, the running thread gets the lowest
/// priority of all. Finds a failure that needs d orderings with a probability of at least 1/(n k^(d-1)) for n threads and k places: Burckhardt,
/// Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010.
/// </summary>
internal sealed class PriorityStrategy : IScheduleStrategy
{
    private const int MaxChanges = 4;
    private const int LikelyDecisions = 250;
    private const int Priorities = 1 << 16;

    private readonly Tape _choices;
    private readonly List<int> _priorities = [];
    private readonly int[] _changes;
    private int _decisions;

    public PriorityStrategy(Tape choices)
    {
        _choices = choices;
        _changes = [.. Enumerable.Range(0, choices.Next(1, MaxChanges + 1)).Select(_ => choices.Next(LikelyDecisions))];
    }

    public ScheduledThread Choose(ScheduledThread? current, IReadOnlyList<ScheduledThread> candidates)
    {
        var highest = Highest(candidates);
        var change = Array.IndexOf(_changes, _decisions++);
        if (change < 0)
            return highest;
        _priorities[highest.Id] = -1 - change;
        return Highest(candidates);
    }

    private ScheduledThread Highest(IReadOnlyList<ScheduledThread> candidates)
    {
        var highest = candidates[0];
        foreach (var candidate in candidates)
        {
            if (Priority(candidate) > Priority(highest))
                highest = candidate;
        }
        return highest;
    }

    private int Priority(ScheduledThread thread)
    {
        while (_priorities.Count <= thread.Id)
            _priorities.Add(_choices.Next(Priorities));
        return _priorities[thread.Id];
    }
}
