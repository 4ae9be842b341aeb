using Voron.Torture.Harness;

namespace Voron.Torture.Schedules;

/// <summary>Schedules of a small script that have some departures in common, and one more everywhere in turn.</summary>
/// <param name="Script">The number of the script.</param>
/// <param name="Departures">How many they have.</param>
/// <param name="First">The first of them, when they have more than one.</param>
/// <param name="Part">Which part of the second departures, when they have three.</param>
/// <param name="Parts">Of so many.</param>
internal readonly record struct DepartureUnit(int Script, int Departures, Departure First, int Part, int Parts);

/// <summary>
/// All schedules of the small scripts with one, two and three departures, in units of some dozens to some hundreds. A run of the suite takes
/// its share of each number of departures, other ones with another seed; one that is long enough takes all.
/// </summary>
internal static class DepartureUnits
{
    public const int MaxDepartures = 3;

    /// <summary>Departures from later decisions than that are left out.</summary>
    public const int MaxDecisions = 400;

    /// <summary>Departures to so many other threads, where more could go on.</summary>
    public const int MaxOthers = 3;

    /// <summary>So many of the scripts, those with the fewest decisions, are gone through with three departures first.</summary>
    public const int ScriptsToTheEnd = 8;

    private const int Slots = 4;

    private static readonly Lazy<Lists> All = new(() => new Lists());

    /// <summary>How many units there are with so many departures.</summary>
    public static long CountOf(int departures) => departures switch
    {
        1 => ScheduleScript.Small.Count,
        2 => All.Value.Pairs.Count,
        _ => All.Value.SmallTriples.Count + All.Value.LargeTriples.Count,
    };

    /// <summary>How many units with three departures the scripts have that are gone through first.</summary>
    public static long CountToTheEnd => All.Value.SmallTriples.Count;

    /// <summary>Whether the script is one of these.</summary>
    public static bool GoesToTheEnd(int script) => All.Value.SmallTriples.Has(script);

    /// <summary>The unit that comes at a turn; null when there are no more.</summary>
    /// <remarks>
    /// Of four turns one is of a single departure, one of two, one of three in the smallest scripts, one of three in the others. What has
    /// come to its end leaves its turns to those that have more, from their other end.
    /// </remarks>
    public static DepartureUnit? At(long turn, long seed)
    {
        Lists all = All.Value;
        long place = turn / Slots;
        long behindSingles = Math.Max(0, place - ScheduleScript.Small.Count);
        long small = all.SmallTriples.Count;
        switch (turn % Slots)
        {
            case 0 when place < ScheduleScript.Small.Count:
                return new DepartureUnit((int)((place + (long)((ulong)seed % (ulong)ScheduleScript.Small.Count)) % ScheduleScript.Small.Count), 1, default, 0, 1);
            case 0 when behindSingles < small - place:
                return all.SmallTriples.At(Turned(small - 1 - behindSingles, seed, small));
            case 1 when place < all.Pairs.Count:
                return all.Pairs.At(EvenSpread.At(place, seed, all.Pairs.Count));
            case 2 when place < small - behindSingles:
                return all.SmallTriples.At(Turned(place, seed, small));
            case 3 when place < all.LargeTriples.Count:
                return all.LargeTriples.At(EvenSpread.At(place, seed, all.LargeTriples.Count));
            default:
                long fromEnd = all.LargeTriples.Count - 1 - turn;
                return fromEnd > place ? all.LargeTriples.At(EvenSpread.At(fromEnd, seed, all.LargeTriples.Count)) : null;
        }
    }

    /// <summary>All departures behind those that a schedule has, as far as they are not left out.</summary>
    /// <param name="from">The first decision.</param>
    /// <param name="others">For each decision of that schedule, how many others could go on.</param>
    public static IEnumerable<Departure> Behind(int from, IReadOnlyList<int> others)
    {
        for (int decision = from; decision < Math.Min(others.Count, MaxDecisions); decision++)
        {
            for (int other = 0; other < Math.Min(others[decision], MaxOthers); other++)
                yield return new Departure(decision, other);
        }
    }

    private static long Turned(long place, long seed, long count) => (place + (long)((ulong)seed % (ulong)count)) % count;

    /// <summary>Units of some scripts with so many departures, by number.</summary>
    private sealed class UnitList(IReadOnlyList<(int Script, IReadOnlyList<Departure> Firsts)> scripts, int departures)
    {
        public long Count { get; } = scripts.Sum(script => script.Firsts.Count * (long)PartsOf(script.Firsts, departures));

        public bool Has(int script) => scripts.Any(one => one.Script == script);

        // The parts of one first departure are far from each other, so that few units of a script have many first departures.
        public DepartureUnit At(long number)
        {
            foreach ((int script, IReadOnlyList<Departure> firsts) in scripts)
            {
                int parts = PartsOf(firsts, departures);
                if (number < firsts.Count * (long)parts)
                    return new DepartureUnit(script, departures, firsts[(int)(number % firsts.Count)], (int)(number / firsts.Count), parts);
                number -= firsts.Count * (long)parts;
            }
            throw new ArgumentOutOfRangeException(nameof(number));
        }

        private static int PartsOf(IReadOnlyList<Departure> firsts, int departures) => departures == MaxDepartures ? Math.Max(1, firsts.Count / 2) : 1;
    }

    private sealed class Lists
    {
        public Lists()
        {
            List<(int Script, IReadOnlyList<Departure> Firsts)> scripts = [];
            for (int script = 0; script < ScheduleScript.Small.Count; script++)
            {
                var plain = new DepartingStrategy([]);
                new ScheduleWorld(ScheduleScript.Small[script], plain).Run();
                scripts.Add((script, [.. Behind(0, plain.Others)]));
            }
            scripts = [.. scripts.OrderBy(script => script.Firsts.Count)];
            Pairs = new UnitList(scripts, 2);
            SmallTriples = new UnitList([.. scripts.Take(ScriptsToTheEnd)], MaxDepartures);
            LargeTriples = new UnitList([.. scripts.Skip(ScriptsToTheEnd)], MaxDepartures);
        }

        public UnitList Pairs { get; }

        public UnitList SmallTriples { get; }

        public UnitList LargeTriples { get; }
    }
}
