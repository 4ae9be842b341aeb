using Voron.Simulation.Harness;
using Voron.Testing;

namespace Voron.Torture.Schedules;

/// <summary>A switch: one thread reaches a place, and another one continues.</summary>
/// <param name="From">The thread that reaches the place.</param>
/// <param name="Place">The place.</param>
/// <param name="To">The thread that continues.</param>
internal readonly record struct Turning(string From, SchedulePlace Place, string To);

/// <summary>
/// A schedule that tests one argument of the protocol, and that random schedules and numbered preemptions meet once in tens of thousands.
/// Places determine where the threads switch, so the schedule still works if the engine gets one more place.
/// </summary>
/// <param name="Name">The case that the schedule tests.</param>
/// <param name="Script">The operations of the threads.</param>
/// <param name="Turnings">The switches between threads, in order. Between switches, each thread runs until it ends.</param>
internal sealed record DirectedSchedule(string Name, ScheduleScript Script, IReadOnlyList<Turning> Turnings)
{
    public static IReadOnlyList<DirectedSchedule> All { get; } = [.. MakeAll(), MakeFailingWrite()];

    /// <exception cref="BrokenPromiseException">The engine has failed.</exception>
    /// <exception cref="TortureException">The threads do not reach the places: the schedule must be redesigned.</exception>
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
        Scripted changes = new(ScriptedKind.BackupChanges), large = new(ScriptedKind.Commit, ScheduleScript.LargeValue | 1);
        const string Reader = "thread 0", Writer = "thread 1", Flusher = "thread 2";
        return
        [
            // The writer drops versions that the reader's state needs before the reader is in the table, and then the flusher finds the reader there.
            new DirectedSchedule(
                "the flusher finds a reader that is about to give its snapshot up",
                new ScheduleScript([[glance], [one, one, one], [flush, kill]], [commit, flush, other]),
                [new(Reader, SchedulePlace.StateCopied, Writer), new(Reader, SchedulePlace.SlotStored, Flusher)]),

            // The reader enters between the two halves of the writer's scan, whichever half comes first.
            new DirectedSchedule(
                "a reader enters the table while the writer scans it",
                new ScheduleScript([[glance], [one, one]], [commit, flush, other]),
                [
                    new(Reader, SchedulePlace.StateCopied, Writer), new(Writer, SchedulePlace.StateCopied, Reader),
                    new(Reader, SchedulePlace.SnapshotConfirmed, Writer),
                ]),

            // The first fork leaves slot 1 free, and the second one takes it when the writer has already scanned it. Then the first one ends.
            new DirectedSchedule(
                "a snapshot moves to a slot that the writer has scanned",
                new ScheduleScript([[new(ScriptedKind.Fork, 1, 2)], [one, one, one]], [commit, flush, other]),
                [
                    new(Reader, SchedulePlace.Script, Writer), new(Writer, SchedulePlace.HorizonRaised, Writer),
                    new(Writer, SchedulePlace.SlotScanned, Writer), new(Writer, SchedulePlace.SlotScanned, Reader),
                    new(Reader, SchedulePlace.Script, Writer),
                ]),

            // The second thread has copied the state of the first one's reader when that ends, and a writer drops what it has read.
            new DirectedSchedule(
                "a reader ends while another thread forks it",
                new ScheduleScript([[new(ScriptedKind.Fork), one, one, one], [new(ScriptedKind.Fork)]], [commit, flush, other]),
                [new(Reader, SchedulePlace.Script, Writer), new(Writer, SchedulePlace.StateCopied, Reader)]),

            // The backup is about to look at the versions and direct writes since the last one, when the flush moves all of them to the log.
            new DirectedSchedule(
                "a flush detaches versions while a backup collects changes",
                new ScheduleScript([[changes], [flush]], [commit, flush, new(ScriptedKind.Backup), one, large]) { KeyCount = ScheduleScript.MaxKeys },
                [new(Reader, SchedulePlace.CollectingChanges, Writer)]),

            // The compaction must not put the copy of a value that the key has no more.
            new DirectedSchedule(
                "a value changes when a compaction has copied it",
                ScheduleScript.Compacting([[new(ScriptedKind.Compact)], [large, flush]]),
                [new(Reader, SchedulePlace.CompactionCopied, Writer)]),

            // Closing cancels the backup, and its target and memory stay until it has ended.
            new DirectedSchedule(
                "an environment is closed while a backup reads it",
                new ScheduleScript([[new(ScriptedKind.Backup)], [one, new(ScriptedKind.Close)]], [commit, flush]),
                [new(Reader, SchedulePlace.BackupReading, Writer)]),

            // A flush makes the backup one that later ones can build on. Before that flush, no finished backup may say so.
            new DirectedSchedule(
                "the process is killed while a backup is about to become a base",
                new ScheduleScript([[new(ScriptedKind.Backup)], [kill]], [commit, flush, one]),
                [new(Reader, SchedulePlace.BackupFinishing, Reader), new(Reader, SchedulePlace.TargetChosen, Writer)]),

            // The file is as short as its durable checkpoint says, at least.
            new DirectedSchedule(
                "the process is killed when a compaction has cut the file",
                ScheduleScript.Compacting([[new(ScriptedKind.Compact)], [kill]]),
                [new(Reader, SchedulePlace.FileCut, Reader), new(Reader, SchedulePlace.WriterReleased, Writer)]),
        ];
    }

    // The record of the second write is durable, but no recovery finds it behind the missing first one.
    private static DirectedSchedule MakeFailingWrite()
    {
        Scripted commit = new(ScriptedKind.Commit, 0b111), fail = new(ScriptedKind.FailWrites);
        return new DirectedSchedule(
            "the first of two journal writes fails when the second has succeeded",
            new ScheduleScript([[commit], [commit], [fail]], [commit]) { OverlapsWrites = true },
            [new("thread 0", SchedulePlace.SecondAdmitted, "thread 1"), new("thread 1", SchedulePlace.Written, "thread 2")]);
    }
}

/// <summary>Switches between the threads of a schedule at given places.</summary>
internal sealed class DirectedStrategy(IReadOnlyList<Turning> turnings) : IScheduleStrategy
{
    /// <summary>The number of these places that were reached.</summary>
    public int Taken { get; private set; }

    public bool IsDone => Taken == turnings.Count;

    public ScheduledThread Choose(ScheduledThread? current, IReadOnlyList<ScheduledThread> candidates)
    {
        if (IsDone)
            return current ?? candidates[0];
        var next = turnings[Taken];
        if (current is null)
            return Find(next.From, candidates) ?? candidates[0];
        if (current.Name != next.From || current.Place != next.Place || Find(next.To, candidates) is not { } to)
            return current;
        Taken++;
        return to;
    }

    private static ScheduledThread? Find(string name, IReadOnlyList<ScheduledThread> candidates)
    {
        foreach (var candidate in candidates)
        {
            if (candidate.Name == name)
                return candidate;
        }
        return null;
    }
}
