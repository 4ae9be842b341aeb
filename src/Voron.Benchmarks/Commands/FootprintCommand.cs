using System.CommandLine;
using System.Globalization;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures small environments: the time of one in memory, the space of one on disk, and what many take that are open at once.</summary>
internal static class FootprintCommand
{
    /// <summary>The fixtures of a large test suite.</summary>
    private const int SuiteFixtures = 400;

    private static readonly int[] Items = [1, 1_000, 10_000, 100_000, 1_000_000];

    public static Command Create()
    {
        var output = new OutputOptions();
        var command = new Command("footprint", "Measures small environments: their time in memory, their space on disk, and what many take that are open at once.");
        var open = new Option<int>("--open") { Description = "The environments that are open at once.", DefaultValueFactory = _ => 1_500 };
        open.Require(value => value >= 1, "at least 1");
        command.Add(open);
        output.AddTo(command);
        command.SetAction(parsed =>
        {
            using var session = output.Begin(parsed);
            var first = Fixtures.Measure(SuiteFixtures);
            var later = Fixtures.Measure(10 * SuiteFixtures);
            var footprints = Items.Select(items => Footprints.Measure(
                Path.Combine(session.Area.Path, items.ToString(CultureInfo.InvariantCulture)), items)).ToList();
            var together = OpenTogether.Measure(Path.Combine(session.Area.Path, "together"), parsed.GetValue(open));
            session.FinishWith(CreateReport(first, later, footprints, together), new { session.Machine, first, later, footprints, together });
        });
        return command;
    }

    public static Report CreateReport(
        FixtureTimes first, FixtureTimes later, IEnumerable<Footprint> footprints, IEnumerable<OpenTogether> together) => new(
        "Small environments",
        [
            "In memory: `OpenInMemory` with default options, a transaction with one key, and `Dispose`, one environment after the other.",
            "On disk: default options, items of 108 bytes with random keys, a hundred a transaction. Blocks of the files, in bytes.",
            "Open at once: environments on disk with default options, one item in each. Figures of the process, for one environment.",
        ],
        [
            new ReportTable(
                "In memory",
                TextColumns: 1,
                ["fixtures", "opening, us", "one commit, us", "with disposal, us", "99th percentile, us", "slowest, ms", "all, ms"],
                [
                    Row($"the first {first.Whole.Count} of a process", first),
                    Row(string.Create(CultureInfo.InvariantCulture, $"the next {later.Whole.Count:N0}"), later),
                ]),
            new ReportTable(
                "On disk",
                TextColumns: 0,
                ["items", "keys and values", "open: all", "journals", "closed: all", "data file", "journals"],
                [.. footprints.Select(Row)]),
            new ReportTable(
                "Open at once",
                TextColumns: 1,
                ["after", "ms", "native memory, reported", "resident memory", "managed memory", "addresses", "threads"],
                [.. together.Select(Row)]),
        ]);

    private static string[] Row(OpenTogether state) =>
    [
        state.What,
        Figures.Decimal(state.Milliseconds),
        Figures.Count(state.NativeBytes),
        Figures.Count(state.ResidentBytes),
        Figures.Count(state.ManagedBytes),
        Figures.Count(state.AddressBytes),
        Figures.Decimal(state.Threads),
    ];

    private static string[] Row(string name, FixtureTimes times)
    {
        var sorted = times.Whole.Order().ToList();
        return
        [
            name,
            Figures.Microseconds(Figures.Median(times.Opening) / 1e3),
            Figures.Microseconds(Figures.Median(times.Commit) / 1e3),
            Figures.Microseconds(Figures.Median(times.Whole) / 1e3),
            Figures.Microseconds(sorted[sorted.Count * 99 / 100] / 1e3),
            Figures.Decimal(sorted[^1] / 1e6),
            Figures.Count(sorted.Sum() / 1e6),
        ];
    }

    private static string[] Row(Footprint footprint) =>
    [
        Figures.Count(footprint.Items),
        Figures.Count(footprint.UserBytes),
        Figures.Count(footprint.Open.All),
        Figures.Count(footprint.Open.Journals),
        Figures.Count(footprint.Closed.All),
        Figures.Count(footprint.Closed.Data),
        Figures.Count(footprint.Closed.Journals),
    ];
}
