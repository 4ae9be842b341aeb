namespace Voron.Torture.Schedules;

/// <summary>Decides which thread continues. Called only if there is a choice.</summary>
internal interface IScheduleStrategy
{
    /// <param name="current">The thread that was running, if it can continue; null if it has ended or waits.</param>
    /// <param name="candidates">At least two threads, in the order of their creation.</param>
    ScheduledThread Choose(ScheduledThread? current, IReadOnlyList<ScheduledThread> candidates);
}
