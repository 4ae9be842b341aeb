using System.CommandLine;
using Voron.Benchmarks.Engines.Tables;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures tables beside those of peers, indexes that are built later, and ranges that are deleted.</summary>
internal static class TablesCommand
{
    // With fewer, the table of the first round, which has a tenth, would have sections and ranges without rows.
    private const int MinRows = 10_000;
    private const int MinEntries = 10_000;

    private static readonly TimeSpan LoadTime = TimeSpan.FromSeconds(5);

    public static Command Create()
    {
        var output = new OutputOptions();
        var rounds = new Option<int>("--rounds") { Description = "How often each figure is measured.", DefaultValueFactory = _ => 5 };
        var rows = new Option<int>("--rows")
        {
            Description = "The rows of the table that is written and read. 0 leaves it out.",
            DefaultValueFactory = _ => 300_000,
        };
        var indexRows = new Option<int>("--index-rows")
        {
            Description = "The rows of the table over which an index is built. 0 leaves it out.",
            DefaultValueFactory = _ => 1_000_000,
        };
        var entries = new Option<int>("--entries")
        {
            Description = "The entries of the tree of which a tenth is deleted. 0 leaves it out.",
            DefaultValueFactory = _ => 10_000_000,
        };
        rounds.Require(value => value >= 1, "at least 1");
        rows.Require(value => value is 0 or >= MinRows, $"0 or at least {MinRows:N0}");
        indexRows.Require(value => value is 0 or >= MinRows, $"0 or at least {MinRows:N0}");
        entries.Require(value => value is 0 or >= MinEntries, $"0 or at least {MinEntries:N0}");
        var command = new Command("tables", "Measures tables beside peers, indexes built beside a writer, and ranges that are deleted.")
        {
            rounds, rows, indexRows, entries,
        };
        output.AddTo(command);
        command.SetAction(async (parsed, stop) =>
        {
            using var session = output.Begin(parsed);
            var sizes = new Sizes(parsed.GetValue(rounds), parsed.GetValue(rows), parsed.GetValue(indexRows), parsed.GetValue(entries));
            if (sizes is { Rows: 0, IndexRows: 0, Entries: 0 })
                throw new BenchmarkException("--rows 0, --index-rows 0 and --entries 0 leave nothing to measure");
            session.CheckDevice(Math.Max(2000L * Math.Max(sizes.Rows, sizes.IndexRows), 300L * sizes.Entries));
            await MeasureAsync(session, sizes, stop).ConfigureAwait(false);
        });
        return command;
    }

    private static async Task MeasureAsync(MeasuringSession session, Sizes sizes, CancellationToken stop)
    {
        var measured = new Measured([], [], [], [], []);
        await MeasuringSession.ShowProgressAsync(sizes.Rounds + 1, async progress =>
        {
            await Task.Yield();
            var packages = new PackageGenerator();

            // The first one runs code that is still being compiled.
            var smaller = new Sizes(1, sizes.Rows / 10, sizes.IndexRows / 10, sizes.Entries / 10);
            await MeasureRoundAsync(session, packages, smaller, new Measured([], [], [], [], []), -1, stop).ConfigureAwait(false);
            progress.Increment(1);
            for (var round = 0; round < sizes.Rounds; round++)
            {
                await MeasureRoundAsync(session, packages, sizes, measured, round, stop).ConfigureAwait(false);
                progress.Increment(1);
            }
        }).ConfigureAwait(false);
        session.FinishWith(
            TableTables.Create(measured.Tables, measured.Shared, measured.Expired, measured.Builds, measured.Deletes),
            new { session.Machine, measured.Tables, measured.Shared, measured.Expired, measured.Builds, measured.Deletes });
    }

    // Each round begins with another engine.
    private static async Task MeasureRoundAsync(
        MeasuringSession session, PackageGenerator packages, Sizes sizes, Measured measured, int round, CancellationToken stop)
    {
        var place = Path.Combine(session.Area.Path, "tables");
        if (sizes.Rows > 0)
        {
            measured.Tables.AddRange(MeasureTables(place, packages, sizes.Rows, round, stop));
            measured.Shared.Add(SharedIndexRun.Measure(place, packages, sizes.Rows));
            stop.ThrowIfCancellationRequested();
            measured.Expired.Add(await ExpiryRun.MeasureAsync(place, packages, sizes.Rows, stop).ConfigureAwait(false));
        }

        if (sizes.IndexRows > 0)
            measured.Builds.AddRange(await MeasureBuildsAsync(place, packages, sizes.IndexRows, round, stop).ConfigureAwait(false));
        stop.ThrowIfCancellationRequested();
        if (sizes.Entries > 0)
            measured.Deletes.Add(RangeDeleteRun.Measure(place, sizes.Entries, rangeFirst: round % 2 == 0));
    }

    private static List<TableRun> MeasureTables(string place, PackageGenerator packages, int rows, int round, CancellationToken stop) =>
        MeasuringSession.MeasureInTurn(
            [.. TableCatalog.All.Where(way => way.IsInstalled()), .. TableCatalog.Variants], round,
            way => TableRun.Measure(way, place, packages, rows, round), run => run.Way, run => run.Checksum, stop);

    private static async Task<List<IndexBuildRun>> MeasureBuildsAsync(
        string place, PackageGenerator packages, int rows, int round, CancellationToken stop)
    {
        var runs = new List<IndexBuildRun>();
        for (var i = 0; i < 2; i++)
        {
            stop.ThrowIfCancellationRequested();
            runs.Add((i + round) % 2 == 0
                ? await IndexBuildRun.MeasureOwnAsync(place, packages, rows, LoadTime, stop).ConfigureAwait(false)
                : IndexBuildRun.MeasureSqlite(place, packages, rows));
        }

        MeasuringSession.RequireEqualAnswers(runs, run => run.Way, run => run.Checksum);
        return runs;
    }

    private sealed record Measured(
        List<TableRun> Tables, List<SharedIndexRun> Shared, List<ExpiryRun> Expired, List<IndexBuildRun> Builds, List<RangeDeleteRun> Deletes);

    private sealed record Sizes(int Rounds, int Rows, int IndexRows, int Entries);
}
