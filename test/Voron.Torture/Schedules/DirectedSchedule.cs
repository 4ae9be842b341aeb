using Voron.Primitives;
using Voron.Torture.Harness;

namespace Voron.Torture.Schedules;

/// <summary>A thread reaches a place, and another one goes on.</summary>
/// <param name="From">Which thread.</param>
/// <param name="Place">The place.</param>
/// <param name="To">Who goes on.</param>
internal readonly record struct Turning(string From, SchedulePlace Place, string To);

/// <summary>
/// A schedule that an argument of the protocol is about, and that random ones and preemptions by number meet once in tens of thousands:
/// where threads change is said by places, which an engine with one place more still comes to.
/// </summary>
/// <param name="Name">What is tried.</param>
/// <param name="Script">What the threads do.</param>
/// <param name="Turnings">Where they change, in order. In between each goes on until it ends.</param>
internal sealed record DirectedSchedule(string Name, ScheduleScript Script, IReadOnlyList<Turning> Turnings)
{
    public static IReadOnlyList<DirectedSchedule> All { get; } = MakeAll();

    /// <exception cref="BrokenPromiseException">The engine has failed.</exception>
    /// <exception cref="TortureException">The threads do not come to the places: the schedule has to be thought out anew.</exception>
    public void Run(SuiteRun run)
    {
        run.Step(Name);
        var strategy = new DirectedStrategy(Turnings);
        ScheduleRun.Make(run, Script, strategy, isNew: true);
        run.Tally($"directed, of {All.Count}");
        if (!strategy.IsDone && !PlantedFault.IsPlanted)
            throw new TortureException($"The schedule '{Name}' has come to {strategy.Taken} of {Turnings.Count} places.");
    }

    private static List<DirectedSchedule> MakeAll()
    {
        Scripted commit = new(ScriptedKind.Commit, 0b111), other = new(ScriptedKind.Commit, 0b11110), one = new(ScriptedKind.Commit, 0b1);
        Scripted glance = new(ScriptedKind.Glance, 0b111), flush = new(ScriptedKind.Flush), kill = new(ScriptedKind.Kill);
        const string Reader = "thread 0", Writer = "thread 1", Flusher = "thread 2";
        return
        [
            // The writer drops what the reader's state needs before the reader is in the table, and the flusher finds it there.
            new DirectedSchedule(
                "the flusher finds a reader that is about to give its snapshot up",
                new ScheduleScript([[glance], [one, one, one], [flush, kill]], [commit, flush, other]),
                [new(Reader, SchedulePlace.StateCopied, Writer), new(Reader, SchedulePlace.SlotStored, Flusher)]),

            // Between the two halves of the writer's scan, whichever comes first.
            new DirectedSchedule(
                "a reader enters the table while the writer scans it",
                new ScheduleScript([[glance], [one, one]], [commit, flush, other]),
                [
                    new(Reader, SchedulePlace.StateCopied, Writer), new(Writer, SchedulePlace.StateCopied, Reader),
                    new(Reader, SchedulePlace.SnapshotConfirmed, Writer),
                ]),
        ];
    }
}

/// <summary>Has the threads of a schedule change at places.</summary>
internal sealed class DirectedStrategy(IReadOnlyList<Turning> turnings) : IScheduleStrategy
{
    /// <summary>How many of the places were come to.</summary>
    public int Taken { get; private set; }

    public bool IsDone => Taken == turnings.Count;

    public ScheduledThread Choose(ScheduledThread? current, IReadOnlyList<ScheduledThread> candidates)
    {
        if (IsDone)
            return current ?? candidates[0];
        Turning next = turnings[Taken];
        if (current is null)
            return Find(next.From, candidates) ?? candidates[0];
        if (current.Name != next.From || current.Place != next.Place || Find(next.To, candidates) is not { } to)
            return current;
        Taken++;
        return to;
    }

    private static ScheduledThread? Find(string name, IReadOnlyList<ScheduledThread> candidates)
    {
        foreach (ScheduledThread candidate in candidates)
        {
            if (candidate.Name == name)
                return candidate;
        }
        return null;
    }
}
