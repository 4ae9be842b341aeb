namespace Voron.Torture.Schedules;

/// <summary>
/// Runs each thread until it waits or ends, and then the first thread that can continue, except at the given preemptions. With all
/// preemptions at each decision, and all pairs and triples of them, this is context bounding (Musuvathi and Qadeer, "Iterative Context
/// Bounding for Systematic Testing of Multithreaded Programs", PLDI 2007), in which choosing a thread other than the first counts as well.
/// </summary>
internal sealed class PreemptingStrategy(IReadOnlyList<Preemption> preemptions) : IScheduleStrategy
{
    private readonly List<int> _others = [];

    /// <summary>For each decision made, the number of other threads.</summary>
    public IReadOnlyList<int> Others => _others;

    /// <summary>The number of preemptions that happened.</summary>
    public int Taken { get; private set; }

    public ScheduledThread Choose(ScheduledThread? current, IReadOnlyList<ScheduledThread> candidates)
    {
        var decision = _others.Count;
        _others.Add(candidates.Count - 1);
        var usual = current ?? candidates[0];
        foreach (var preemption in preemptions)
        {
            if (preemption.Decision != decision || preemption.Other >= candidates.Count - 1)
                continue;
            Taken++;
            return candidates[preemption.Other] == usual ? candidates[^1] : candidates[preemption.Other];
        }
        return usual;
    }
}
