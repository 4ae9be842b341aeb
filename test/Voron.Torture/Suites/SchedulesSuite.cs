using Voron.Simulation.Harness;
using Voron.Testing;
using Voron.Torture.Schedules;

namespace Voron.Torture.Suites;

/// <summary>Runs threads that commit, read, flush, back up, compact and close, one at a time: marked places decide which continues.</summary>
internal sealed class SchedulesSuite : Suite
{
    /// <summary>One run in this many is a unit of preemptions, and makes as many schedules as the others together.</summary>
    private const int EnumerateOneIn = 100;

    // The kinds of runs.
    private const int Random = 0;
    private const int Units = 1;
    private const int Directed = 2;
    private const int Kinds = 3;

    /// <summary>
    /// One in this many random schedules is of a small script, for faults that need more preemptions than are enumerated.
    /// </summary>
    private const int SmallOneIn = 3;

    /// <summary>One in this many schedules is made twice.</summary>
    private const int TwiceOneIn = 64;

    public override string Name => "schedules";

    public override string Summary => "threads that commit, read, flush, back up, compact and close, interleaved in any way; small scripts in all ways with up to three preemptions";

    public override string Unit => "schedules";

    public override long TestCount => 8_000;

    public override long FullCount => 20_000_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "instructions that a processor or a compiler reorders between two places",
        "changes of thread between the instructions of one place and the next",
        $"preemptions from decisions after the first {PreemptionUnits.MaxDecisions} of a schedule, and to a thread after the first "
            + $"{PreemptionUnits.MaxOthers} others that can continue",
        "backups that read and write on two threads, or release their snapshot by the clock; uploads beside both",
        "three preemptions at each place of every small script, some five million schedules, unless the run is as long as a full one; see the units in "
            + $"the tallies, of which those of the {PreemptionUnits.ScriptsToTheEnd} smallest scripts come first",
    ];

    /// <summary>
    /// Runs the directed schedules once; then units of preemptions, while there are any, in turn with runs of random scripts.
    /// </summary>
    public override void Run(SuiteRun run)
    {
        if (!SchedulePoint.IsOn)
            throw new TortureException($"The suite '{Name}' needs the engine's schedule points, which have to be switched on before the engine is used.");
        var unit = run.Index % EnumerateOneIn == 0 ? PreemptionUnits.At(run.Index / EnumerateOneIn, run.Seed) : null;
        switch (run.Choices.Choose(unit is not null ? Units : run.Index - 1 < DirectedSchedule.All.Count ? Directed : Random, Kinds))
        {
            case Units:
                new PreemptionRun(run, unit).Run();
                break;
            case Directed:
                DirectedSchedule.All[run.Choices.Choose((int)run.Index - 1, DirectedSchedule.All.Count)].Run(run);
                break;
            default:
                RunRandom(run);
                break;
        }
    }

    private static void RunRandom(SuiteRun run)
    {
        var small = run.Choices.Next(SmallOneIn * ScheduleScript.Small.Count);
        var isSmall = small < ScheduleScript.Small.Count;
        var script = isSmall ? ScheduleScript.Small[small] : ScheduleScript.Random(run);
        run.Step(isSmall ? $"script {small}" : "a random script");
        var byPriority = run.Choices.Next(2) == 1;
        var tape = run.Choices;
        var before = tape.Drawn.Count;
        var world = ScheduleRun.Make(run, script, byPriority ? new PriorityStrategy(tape) : new RandomStrategy(tape), isNew: true);
        run.Tally(byPriority ? "by priority" : "at random");
        if (run.Index % TwiceOneIn != 1)
            return;
        var again = new Tape([.. tape.Drawn.Skip(before)]);
        var second = ScheduleRun.Make(run, script, byPriority ? new PriorityStrategy(again) : new RandomStrategy(again), isNew: false);
        BrokenPromiseException.Require(
            world.Scheduler.Trace.SequenceEqual(second.Scheduler.Trace), "The same script and the same choices lead to another schedule: it cannot be replayed.");
        run.Tally("made twice");
    }
}
