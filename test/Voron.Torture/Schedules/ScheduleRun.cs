using Voron.Primitives;
using Voron.Torture.Harness;

namespace Voron.Torture.Schedules;

/// <summary>Makes one schedule of a script, and tells of it.</summary>
internal static class ScheduleRun
{
    /// <summary>Places that few schedules come to.</summary>
    private static readonly SchedulePlace[] Rare =
        [SchedulePlace.FileCut, SchedulePlace.MapMoved, SchedulePlace.FilePreparing, SchedulePlace.JoinStored];

    /// <param name="run">What is told and counted.</param>
    /// <param name="script">What the threads do.</param>
    /// <param name="strategy">Which of them goes on.</param>
    /// <param name="isNew">It is a case of its own, and not one that has been made before.</param>
    /// <exception cref="BrokenPromiseException">The engine has failed.</exception>
    public static ScheduleWorld Make(SuiteRun run, ScheduleScript script, IScheduleStrategy strategy, bool isNew)
    {
        var world = new ScheduleWorld(script, strategy);
        try
        {
            world.Run();
        }
        catch
        {
            foreach (string line in world.Scheduler.TellTrace())
                run.Step(line);
            throw;
        }
        finally
        {
            if (isNew)
                Count(run, world.Scheduler);
        }
        return world;
    }

    private static void Count(SuiteRun run, Scheduler scheduler)
    {
        run.Count();
        run.Tally("places", scheduler.Trace.Count);
        run.Tally("switches", scheduler.Switches);
        foreach (SchedulePlace rare in Rare)
            run.Tally($"with {rare}", scheduler.Trace.Any(step => step.Place == rare) ? 1 : 0);
    }
}
