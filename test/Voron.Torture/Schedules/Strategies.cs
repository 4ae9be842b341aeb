using Voron.Torture.Harness;

namespace Voron.Torture.Schedules;

/// <summary>Continues with the running thread, and occasionally switches to any other.</summary>
internal sealed class RandomStrategy : IScheduleStrategy
{
    private readonly Tape _choices;
    private readonly int _oneIn;

    public RandomStrategy(Tape choices)
    {
        _choices = choices;
        _oneIn = 1 << choices.Next(1, 6);
    }

    // The smallest choice is not to switch, so a shortened script has fewer switches.
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

/// <summary>A choice that differs from the usual one.</summary>
/// <param name="Decision">The index of the decision, from 0.</param>
/// <param name="Other">The index of the chosen thread among the other threads, from 0.</param>
internal readonly record struct Preemption(int Decision, int Other);

/// <summary>
/// Runs each thread until it waits or ends, and then the first thread that can continue, except at the given preemptions. With all
/// preemptions at each decision, and all pairs and triples of them, this is context bounding (Musuvathi and Qadeer, "Iterative Context
/// Bounding for Systematic Testing of Multithreaded Programs", PLDI 2007), in which choosing a thread other than the first counts as well.
/// </summary>
internal sealed class DepartingStrategy(IReadOnlyList<Preemption> preemptions) : IScheduleStrategy
{
    private readonly List<int> _others = [];

    /// <summary>For each decision made, the number of other threads.</summary>
    public IReadOnlyList<int> Others => _others;

    /// <summary>The number of preemptions that happened.</summary>
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
