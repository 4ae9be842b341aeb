using Voron.Simulation.Harness;

namespace Voron.Torture.Schedules;

/// <summary>Schedules of a small script that share some preemptions, and have one more at each possible place in turn.</summary>
/// <param name="Script">The number of the script.</param>
/// <param name="Preemptions">The number of preemptions in each schedule.</param>
/// <param name="First">The first preemption, if there is more than one.</param>
/// <param name="Part">The index of the part of the second preemptions that the unit covers, if there are three preemptions.</param>
/// <param name="Parts">The number of these parts.</param>
internal readonly record struct PreemptionUnit(int Script, int Preemptions, Preemption First, int Part, int Parts);

/// <summary>
/// All schedules of the small scripts with one, two and three preemptions, in units of dozens to hundreds of schedules. A run of the suite
/// takes a share of the units for each number of preemptions; another seed selects other units. A run that is long enough takes all units.
/// </summary>
internal static class PreemptionUnits
{
    public const int MaxPreemptions = 3;

    /// <summary>Preemptions at this decision or a later one are left out.</summary>
    public const int MaxDecisions = 400;

    /// <summary>The maximum number of other threads to which a decision is preempted, even if more could continue.</summary>
    public const int MaxOthers = 3;

    /// <summary>The number of scripts, those with the fewest decisions, that are completed with three preemptions first.</summary>
    public const int ScriptsToTheEnd = 8;

    private const int Slots = 4;

    private static readonly Lazy<Lists> All = new(() => new Lists());

    /// <summary>Returns the number of units with the given number of preemptions.</summary>
    public static long CountOf(int preemptions) => preemptions switch
    {
        1 => ScheduleScript.Small.Count,
        2 => All.Value.Pairs.Count,
        _ => All.Value.SmallTriples.Count + All.Value.LargeTriples.Count,
    };

    /// <summary>The number of units with three preemptions of the scripts that are completed first.</summary>
    public static long CountToTheEnd => All.Value.SmallTriples.Count;

    /// <summary>Returns whether the script is one of those that are completed first.</summary>
    public static bool GoesToTheEnd(int script) => All.Value.SmallTriples.Has(script);

    /// <summary>Returns the unit for a turn; null if there are no more.</summary>
    /// <remarks>
    /// Of every four turns, one has a single preemption, one has two, one has three in the smallest scripts, and one has three in the other
    /// scripts. A list that has come to its end leaves its turns to the last of these lists, which is then also traversed from its other end.
    /// </remarks>
    public static PreemptionUnit? At(long turn, long seed)
    {
        var all = All.Value;
        var place = turn / Slots;
        var slot = (int)(turn % Slots);
        if (place < all.LengthOf(slot))
            return all.At(slot, place, seed);

        // The number of turns before this one that were left over by lists that had come to their end.
        long left = 0;
        for (var other = 0; other < Slots - 1; other++)
            left += Math.Max(0, place + (other < slot ? 1 : 0) - all.LengthOf(other));
        var fromEnd = all.LargeTriples.Count - 1 - left;
        return slot != Slots - 1 && fromEnd > place ? all.At(Slots - 1, fromEnd, seed) : null;
    }

    /// <summary>Returns all preemptions after those that a schedule has, without those that are left out.</summary>
    /// <param name="from">The first decision.</param>
    /// <param name="others">For each decision of that schedule, the number of other threads that could continue.</param>
    public static IEnumerable<Preemption> Behind(int from, IReadOnlyList<int> others)
    {
        for (var decision = from; decision < Math.Min(others.Count, MaxDecisions); decision++)
        {
            for (var other = 0; other < Math.Min(others[decision], MaxOthers); other++)
                yield return new Preemption(decision, other);
        }
    }

    /// <summary>The units of some scripts with a given number of preemptions, by number.</summary>
    private sealed class UnitList(IReadOnlyList<(int Script, IReadOnlyList<Preemption> Firsts)> scripts, int preemptions)
    {
        public long Count { get; } = scripts.Sum(script => script.Firsts.Count * (long)PartsOf(script.Firsts, preemptions));

        public bool Has(int script) => scripts.Any(one => one.Script == script);

        // The parts of one first preemption are far apart, so that a few units of a script cover many first preemptions.
        public PreemptionUnit At(long number)
        {
            foreach ((var script, var firsts) in scripts)
            {
                var parts = PartsOf(firsts, preemptions);
                if (number < firsts.Count * (long)parts)
                    return new PreemptionUnit(script, preemptions, firsts[(int)(number % firsts.Count)], (int)(number / firsts.Count), parts);
                number -= firsts.Count * (long)parts;
            }
            throw new ArgumentOutOfRangeException(nameof(number));
        }

        private static int PartsOf(IReadOnlyList<Preemption> firsts, int preemptions) =>
            preemptions == MaxPreemptions ? Math.Max(1, firsts.Count / 2) : 1;
    }

    private sealed class Lists
    {
        public Lists()
        {
            List<(int Script, IReadOnlyList<Preemption> Firsts)> scripts = [];
            for (var script = 0; script < ScheduleScript.Small.Count; script++)
            {
                var plain = new PreemptingStrategy([]);
                new ScheduleWorld(ScheduleScript.Small[script], plain).Run();
                scripts.Add((script, [.. Behind(0, plain.Others)]));
            }
            scripts = [.. scripts.OrderBy(script => script.Firsts.Count)];
            Pairs = new UnitList(scripts, 2);
            SmallTriples = new UnitList([.. scripts.Take(ScriptsToTheEnd)], MaxPreemptions);
            LargeTriples = new UnitList([.. scripts.Skip(ScriptsToTheEnd)], MaxPreemptions);
        }

        public UnitList Pairs { get; }

        public UnitList SmallTriples { get; }

        public UnitList LargeTriples { get; }

        public long LengthOf(int slot) => slot switch
        {
            0 => ScheduleScript.Small.Count,
            1 => Pairs.Count,
            2 => SmallTriples.Count,
            _ => LargeTriples.Count,
        };

        public PreemptionUnit At(int slot, long place, long seed)
        {
            var number = EvenSpread.At(place, seed, LengthOf(slot));
            return slot switch
            {
                0 => new PreemptionUnit((int)number, 1, default, 0, 1),
                1 => Pairs.At(number),
                2 => SmallTriples.At(number),
                _ => LargeTriples.At(number),
            };
        }
    }
}
