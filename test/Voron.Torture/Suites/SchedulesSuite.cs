using Voron.Primitives;
using Voron.Torture.Harness;
using Voron.Torture.Schedules;

namespace Voron.Torture.Suites;

/// <summary>Threads that commit, read, flush, grow and close, of which one runs at a time: which, is decided at marked places.</summary>
internal sealed class SchedulesSuite : Suite
{
    private const int MaxDepartures = 3;

    /// <summary>More decisions than any of the small scripts has.</summary>
    private const int MaxDecisions = 400;

    private const int MaxOthers = 3;

    /// <summary>One run in so many goes over a small script, and makes as many schedules as the others together.</summary>
    private const int EnumerateOneIn = 100;

    /// <summary>One in so many random schedules is of a small script, for what needs more departures than are enumerated.</summary>
    private const int SmallOneIn = 3;

    /// <summary>One in so many schedules is made twice.</summary>
    private const int TwiceOneIn = 64;

    /// <summary>Places that few schedules come to.</summary>
    private static readonly SchedulePlace[] Rare =
        [SchedulePlace.FileCut, SchedulePlace.MapMoved, SchedulePlace.FilePreparing, SchedulePlace.JoinStored];

    public override string Name => "schedules";

    public override string Summary => "threads that commit, read, flush, grow and close, interleaved at will; small scripts in all ways with up to three departures";

    public override string Unit => "schedules";

    public override long TestCount => 20_000;

    public override long FullCount => 20_000_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "what a processor or a compiler reorders between two places",
        "changes of thread between the instructions of one place and the next",
    ];

    /// <summary>Where scripts are enumerated, runs go to them in turn with runs of random scripts.</summary>
    public override void Run(SuiteRun run)
    {
        if (!SchedulePoint.IsOn)
            throw new TortureException($"The suite '{Name}' needs the engine's schedule points, which have to be switched on before the engine is used.");
        if (run.Index % EnumerateOneIn == 0)
            new Enumeration(run).Run();
        else
            RunRandom(run);
    }

    private static void RunRandom(SuiteRun run)
    {
        int small = run.Choices.Next(SmallOneIn * ScheduleScript.Small.Count);
        bool isSmall = small < ScheduleScript.Small.Count;
        ScheduleScript script = isSmall ? ScheduleScript.Small[small] : ScheduleScript.Random(run);
        run.Step(isSmall ? $"script {small}" : "a random script");
        bool byPriority = run.Choices.Next(2) == 1;
        var tape = run.Choices;
        int before = tape.Drawn.Count;
        ScheduleWorld world = Schedule(run, script, byPriority ? new PriorityStrategy(tape) : new RandomStrategy(tape));
        run.Tally(byPriority ? "by priority" : "at random");
        if (run.Index % TwiceOneIn != 1)
            return;
        var again = new Tape([.. tape.Drawn.Skip(before)]);
        ScheduleWorld second = Schedule(run, script, byPriority ? new PriorityStrategy(again) : new RandomStrategy(again));
        BrokenPromiseException.Require(
            world.Scheduler.Trace.SequenceEqual(second.Scheduler.Trace), "The same script and the same choices lead to another schedule: it cannot be replayed.");
        run.Tally("made twice");
    }

    private static ScheduleWorld Schedule(SuiteRun run, ScheduleScript script, IScheduleStrategy strategy)
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
            run.Count();
            run.Tally("places", world.Scheduler.Trace.Count);
            run.Tally("switches", world.Scheduler.Switches);
            foreach (SchedulePlace rare in Rare)
                run.Tally($"with {rare}", world.Scheduler.Trace.Any(step => step.Place == rare) ? 1 : 0);
        }
        return world;
    }

    /// <summary>Schedules of a small script that begin with the same departures and have some more, everywhere in turn.</summary>
    /// <remarks>
    /// First all with one departure, then for each of these all with a second one, then for each of the first all with two more; the earlier
    /// ones of all scripts first.
    /// </remarks>
    private sealed class Enumeration(SuiteRun run)
    {
        private static readonly Lazy<IReadOnlyList<(int Script, Departure First)>> Firsts = new(FindFirsts);

        public void Run()
        {
            long unit = run.Index / EnumerateOneIn;
            long firsts = Firsts.Value.Count;
            if (unit < ScheduleScript.Small.Count)
            {
                Go((int)unit, [], more: 1);
            }
            else if (unit - ScheduleScript.Small.Count < 2 * firsts)
            {
                unit -= ScheduleScript.Small.Count;
                (int script, Departure first) = Firsts.Value[(int)(unit % firsts)];
                Go(script, [first], more: unit < firsts ? 1 : 2);
            }
            else
            {
                RunRandom(run);
            }
        }

        private void Go(int script, List<Departure> departures, int more)
        {
            int fixedOnes = departures.Count;
            for (int i = 0; i < more; i++)
                departures.Add(new Departure(departures.Count == 0 ? 0 : departures[^1].Decision + 1, 0));
            bool asPlanned = true;
            do
            {
                IEnumerable<string> places = departures.Select(departure => $"{departure.Decision} ({departure.Other})");
                run.Step($"script {script} departs at {string.Join(", ", places)}");
                int chosen = Draw(script, ScheduleScript.Small.Count, ref asPlanned);
                int count = Draw(departures.Count, MaxDepartures + 1, ref asPlanned);
                var drawn = new List<Departure>();
                for (int i = 0; i < count; i++)
                {
                    Departure planned = i < departures.Count ? departures[i] : default;
                    drawn.Add(new Departure(Draw(planned.Decision, MaxDecisions, ref asPlanned), Draw(planned.Other, MaxOthers, ref asPlanned)));
                }
                var strategy = new DepartingStrategy(drawn);
                Schedule(run, ScheduleScript.Small[chosen], strategy);
                run.Tally($"departures {strategy.Taken}");
                if (asPlanned && !TryAdvance(departures, fixedOnes, strategy.Others))
                    break;
            }
            while (run.Choices.HasMore && !run.Stop.IsCancellationRequested);
        }

        // Counts on: the last departure goes over all places first. A place that the schedule did not come to ends a round.
        private static bool TryAdvance(List<Departure> departures, int fixedOnes, IReadOnlyList<int> others)
        {
            int last = departures.FindIndex(departure => departure.Decision >= others.Count || departure.Decision >= MaxDecisions);
            last = last < 0 ? departures.Count - 1 : last - 1;
            if (last < fixedOnes)
                return false;
            Departure at = departures[last];
            departures[last] = at.Other + 1 < Math.Min(others[at.Decision], MaxOthers)
                ? at with { Other = at.Other + 1 }
                : new Departure(at.Decision + 1, 0);
            for (int i = last + 1; i < departures.Count; i++)
                departures[i] = new Departure(departures[i - 1].Decision + 1, 0);
            return true;
        }

        // In a script the numbers are what they are: then all of it is followed.
        private int Draw(int turn, int limit, ref bool asPlanned)
        {
            int drawn = run.Choices.Choose(turn, limit);
            asPlanned &= drawn == turn;
            return drawn;
        }

        private static List<(int Script, Departure First)> FindFirsts()
        {
            var firsts = new List<(int Place, int Script, Departure First)>();
            for (int script = 0; script < ScheduleScript.Small.Count; script++)
            {
                int place = 0;
                var strategy = new DepartingStrategy([]);
                new ScheduleWorld(ScheduleScript.Small[script], strategy).Run();
                for (int decision = 0; decision < strategy.Others.Count; decision++)
                {
                    for (int other = 0; other < Math.Min(strategy.Others[decision], MaxOthers); other++)
                        firsts.Add((place++, script, new Departure(decision, other)));
                }
            }
            return [.. firsts.OrderBy(first => first.Place).Select(first => (first.Script, first.First))];
        }
    }
}
