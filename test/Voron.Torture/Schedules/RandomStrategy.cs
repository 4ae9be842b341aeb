using Voron.Simulation.Harness;

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
        var other = _choices.Next(candidates.Count - 1);
        return candidates[other] == current ? candidates[^1] : candidates[other];
    }
}
