using Voron.Simulation.Harness;
using Voron.Testing;

namespace Voron.Torture.Schedules;

/// <summary>Runs one schedule of a script, and reports it.</summary>
internal static class ScheduleRun
{
    /// <summary>Places that few schedules reach.</summary>
    private static readonly SchedulePlace[] Rare =
        [SchedulePlace.FileCut, SchedulePlace.MapMoved, SchedulePlace.FilePreparing, SchedulePlace.JoinStored, SchedulePlace.CompactionCopied,
            SchedulePlace.SecondAdmitted];

    /// <param name="run">Receives reports and counts.</param>
    /// <param name="script">The operations of the threads.</param>
    /// <param name="strategy">Decides which of them continues.</param>
    /// <param name="isNew">Whether this is a separate case, rather than one that has been run before.</param>
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
            foreach (var line in world.Scheduler.DescribeTrace())
                run.Step(line);
            throw;
        }
        finally
        {
            if (isNew)
                Count(run, world);
        }
        return world;
    }

    private static void Count(SuiteRun run, ScheduleWorld world)
    {
        var scheduler = world.Scheduler;
        run.Count();
        run.Tally("places", scheduler.Trace.Count);
        run.Tally("switches", scheduler.Switches);
        foreach (var rare in Rare)
            run.Tally($"with {rare}", scheduler.Trace.Any(step => step.Place == rare) ? 1 : 0);
        foreach (var made in world.Backups.Made)
            run.Tally(made.Parent is null ? "full backups" : "backups of changes");
        run.Tally("pages copied again", world.Backups.Made.Sum(made => made.Report.CopiedAgain));
        run.Tally("compactions", world.Compactions);
    }
}
