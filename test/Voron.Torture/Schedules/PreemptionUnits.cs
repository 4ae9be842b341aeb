using Voron.Torture.Harness;

namespace Voron.Torture.Schedules;

/// <summary>Schedules of a small script that have some preemptions in common, and one more everywhere in turn.</summary>
/// <param name="Script">The number of the script.</param>
/// <param name="Preemptions">How many they have.</param>
/// <param name="First">The first of them, when they have more than one.</param>
/// <param name="Part">Which part of the second preemptions, when they have three.</param>
/// <param name="Parts">Of so many.</param>
internal readonly record struct PreemptionUnit(int Script, int Preemptions, Preemption First, int Part, int Parts);

/// <summary>
/// All schedules of the small scripts with one, two and three preemptions, in units of some dozens to some hundreds. A run of the suite takes
/// its share of each number of preemptions, other ones with another seed; one that is long enough takes all.
/// </summary>
internal static class PreemptionUnits
{
    public const int MaxPreemptions = 3;

    /// <summary>Preemptions from later decisions than that are left out.</summary>
    public const int MaxDecisions = 400;

    /// <summary>Preemptions to so many other threads, where more could go on.</summary>
    public const int MaxOthers = 3;

    /// <summary>So many of the scripts, those with the fewest decisions, are gone through with three preemptions first.</summary>
    public const int ScriptsToTheEnd = 8;

    private const int Slots = 4;

    private static readonly Lazy<Lists> All = new(() => new Lists());

    /// <summary>How many units there are with so many preemptions.</summary>
    public static long CountOf(int preemptions) => preemptions switch
    {
        1 => ScheduleScript.Small.Count,
        2 => All.Value.Pairs.Count,
        _ => All.Value.SmallTriples.Count + All.Value.LargeTriples.Count,
    };

    /// <summary>How many units with three preemptions the scripts have that are gone through first.</summary>
    public static long CountToTheEnd => All.Value.SmallTriples.Count;

    /// <summary>Whether the script is one of these.</summary>
    public static bool GoesToTheEnd(int script) => All.Value.SmallTriples.Has(script);

    /// <summary>The unit that comes at a turn; null when there are no more.</summary>
    /// <remarks>
    /// Of four turns one is of a single preemption, one of two, one of three in the smallest scripts, one of three in the others. What has
    /// come to its end leaves its turns to the last of these, which is then gone through from its other end too.
    /// </remarks>
    public static PreemptionUnit? At(long turn, long seed)
    {
        Lists all = All.Value;
        long place = turn / Slots;
        int slot = (int)(turn % Slots);
        if (place < all.LengthOf(slot))
            return all.At(slot, place, seed);

        // So many turns have been left before this one by lists that had come to their end.
        long left = 0;
        for (int other = 0; other < Slots - 1; other++)
            left += Math.Max(0, place + (other < slot ? 1 : 0) - all.LengthOf(other));
        long fromEnd = all.LargeTriples.Count - 1 - left;
        return slot != Slots - 1 && fromEnd > place ? all.At(Slots - 1, fromEnd, seed) : null;
    }

    /// <summary>All preemptions behind those that a schedule has, as far as they are not left out.</summary>
    /// <param name="from">The first decision.</param>
    /// <param name="others">For each decision of that schedule, how many others could go on.</param>
    public static IEnumerable<Preemption> Behind(int from, IReadOnlyList<int> others)
    {
        for (int decision = from; decision < Math.Min(others.Count, MaxDecisions); decision++)
        {
            for (int other = 0; other < Math.Min(others[decision], MaxOthers); other++)
                yield return new Preemption(decision, other);
        }
    }

    /// <summary>Units of some scripts with so many preemptions, by number.</summary>
    private sealed class UnitList(IReadOnlyList<(int Script, IReadOnlyList<Preemption> Firsts)> scripts, int preemptions)
    {
        public long Count { get; } = scripts.Sum(script => script.Firsts.Count * (long)PartsOf(script.Firsts, preemptions));

        public bool Has(int script) => scripts.Any(one => one.Script == script);

        // The parts of one first preemption are far from each other, so that few units of a script have many first preemptions.
        public PreemptionUnit At(long number)
        {
            foreach ((int script, IReadOnlyList<Preemption> firsts) in scripts)
            {
                int parts = PartsOf(firsts, preemptions);
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
            for (int script = 0; script < ScheduleScript.Small.Count; script++)
            {
                var plain = new DepartingStrategy([]);
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
            long number = EvenSpread.At(place, seed, LengthOf(slot));
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
