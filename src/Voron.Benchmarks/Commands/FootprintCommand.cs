using System.CommandLine;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures small environments: the time of one in memory, the space of one on disk, and what many take that are open at once.</summary>
internal static class FootprintCommand
{
    /// <summary>The fixtures of a large test suite.</summary>
    private const int SuiteFixtures = 400;

    private static readonly int[] Items = [1, 1_000, 10_000, 100_000, 1_000_000];

    public static Command Create()
    {
        var open = CommandOptions.Number("--open", "The environments that are open at once.", 1_500);
        return CommandOptions.Create(
            "footprint", "Measures small environments: their time in memory, their space on disk, and what many take that are open at once.",
            (parsed, session, _) =>
            {
                var first = FixtureTimes.Measure(SuiteFixtures);
                var later = FixtureTimes.Measure(10 * SuiteFixtures);
                var footprints = Items.Select(items => Footprint.Measure(
                    Path.Combine(session.Area.Path, items.ToString(CultureInfo.InvariantCulture)), items)).ToList();
                var together = OpenTogether.Measure(Path.Combine(session.Area.Path, "together"), parsed.GetValue(open));
                session.FinishWith(Report(first, later, footprints, together), new { session.Machine, first, later, footprints, together });
                return Task.CompletedTask;
            },
            open);
    }

    private static Report Report(
        FixtureTimes first, FixtureTimes later, IReadOnlyList<Footprint> footprints, IReadOnlyList<OpenTogether> together) => new(
        "Small environments",
        [
            "In memory: `OpenInMemory` with default options, a transaction with one key, and `Dispose`, one environment after the other.",
            "On disk: default options, items of 108 bytes with random keys, a hundred a transaction. Blocks of the files, in bytes.",
            "Open at once: environments on disk with default options, one item in each. Figures of the process, for one environment.",
        ],
        [
            new TableOf<(string Name, FixtureTimes Times)>("In memory")
                .Text("fixtures", row => row.Name)
                .Microseconds("opening, us", row => Figures.Median(row.Times.Opening) / 1e3)
                .Microseconds("one commit, us", row => Figures.Median(row.Times.Commit) / 1e3)
                .Microseconds("with disposal, us", row => Figures.Median(row.Times.Whole) / 1e3)
                .Microseconds("99th percentile, us", row => row.Times.Whole.Order().ElementAt(row.Times.Whole.Count * 99 / 100) / 1e3)
                .Decimal("slowest, ms", row => row.Times.Whole.Max() / 1e6)
                .Count("all, ms", row => row.Times.Whole.Sum() / 1e6)
                .OfEach([($"the first {first.Whole.Count} of a process", first), ($"the next {later.Whole.Count:N0}", later)]),
            new TableOf<Footprint>("On disk", textColumns: 0)
                .Count("items", row => row.Items).Count("keys and values", row => row.UserBytes)
                .Count("open: all", row => row.Open.All).Count("journals", row => row.Open.Journals)
                .Count("closed: all", row => row.Closed.All).Count("data file", row => row.Closed.Data).Count("journals", row => row.Closed.Journals)
                .OfEach(footprints),
            new TableOf<OpenTogether>("Open at once")
                .Text("after", row => row.What).Decimal("ms", row => row.Milliseconds)
                .Count("native memory, reported", row => row.NativeBytes).Count("resident memory", row => row.ResidentBytes)
                .Count("managed memory", row => row.ManagedBytes).Count("addresses", row => row.AddressBytes).Decimal("threads", row => row.Threads)
                .OfEach(together),
        ]);
}
