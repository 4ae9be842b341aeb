using Voron.Torture.Harness;

namespace Voron.Torture.Schedules;

/// <summary>Goes on with whoever runs, and changes to any other once in a while.</summary>
internal sealed class RandomStrategy : IScheduleStrategy
{
    private readonly Tape _choices;
    private readonly int _oneIn;

    public RandomStrategy(Tape choices)
    {
        _choices = choices;
        _oneIn = 1 << choices.Next(1, 6);
    }

    // The smallest choice is to change nothing, so that a shortened script has fewer changes.
    public ScheduledThread Choose(ScheduledThread? current, IReadOnlyList<ScheduledThread> candidates)
    {
        if (current is null)
            return candidates[_choices.Next(candidates.Count)];
        if (_choices.Next(_oneIn) < _oneIn - 1)
            return current;
        int other = _choices.Next(candidates.Count - 1);
        return candidates[other] == current ? candidates[^1] : candidates[other];
    }
}

/// <summary>
/// The thread with the highest priority runs; priorities are drawn, and at a few places that are drawn too whoever runs gets the lowest of
/// all. Finds a failure that needs d orderings with a chance of at least 1/(n k^(d-1)) for n threads and k places: Burckhardt,
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
        ScheduledThread highest = Highest(candidates);
        int change = Array.IndexOf(_changes, _decisions++);
        if (change < 0)
            return highest;
        _priorities[highest.Id] = -1 - change;
        return Highest(candidates);
    }

    private ScheduledThread Highest(IReadOnlyList<ScheduledThread> candidates)
    {
        ScheduledThread highest = candidates[0];
        foreach (ScheduledThread candidate in candidates)
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

/// <summary>Another choice than the usual one.</summary>
/// <param name="Decision">Which decision, from 0.</param>
/// <param name="Other">Which of the others, from 0.</param>
internal readonly record struct Preemption(int Decision, int Other);

/// <summary>
/// Everybody runs until he waits or ends, and then the first who can; but for the preemptions given. With all preemptions at each
/// decision, and all pairs and triples of them, this is context bounding (Musuvathi and Qadeer, "Iterative Context Bounding for
/// Systematic Testing of Multithreaded Programs", PLDI 2007), in which another than the first counts as well.
/// </summary>
internal sealed class DepartingStrategy(IReadOnlyList<Preemption> preemptions) : IScheduleStrategy
{
    private readonly List<int> _others = [];

    /// <summary>For each decision that came, how many others there were.</summary>
    public IReadOnlyList<int> Others => _others;

    /// <summary>Preemptions that happened.</summary>
    public int Taken { get; private set; }

    public ScheduledThread Choose(ScheduledThread? current, IReadOnlyList<ScheduledThread> candidates)
    {
        int decision = _others.Count;
        _others.Add(candidates.Count - 1);
        ScheduledThread usual = current ?? candidates[0];
        foreach (Preemption preemption in preemptions)
        {
            if (preemption.Decision != decision || preemption.Other >= candidates.Count - 1)
                continue;
            Taken++;
            return candidates[preemption.Other] == usual ? candidates[^1] : candidates[preemption.Other];
        }
        return usual;
    }
}
