using System.CommandLine;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures tables beside those of peers, indexes that are built later, and ranges that are deleted.</summary>
internal static class TablesCommand
{
    // With fewer, the table of the first round, which has a tenth, would have sections and ranges without rows.
    private const int Fewest = 10_000;

    private static readonly TimeSpan LoadTime = TimeSpan.FromSeconds(5);

    public static Command Create()
    {
        var rounds = CommandOptions.Rounds();
        var rows = CommandOptions.Number("--rows", "The rows of the table that is written and read. 0 leaves it out.", 300_000, Fewest, orNone: true);
        var indexRows = CommandOptions.Number(
            "--index-rows", "The rows of the table over which an index is built. 0 leaves it out.", 1_000_000, Fewest, orNone: true);
        var entries = CommandOptions.Number(
            "--entries", "The entries of the tree of which a tenth is deleted. 0 leaves it out.", 10_000_000, Fewest, orNone: true);
        return CommandOptions.Create(
            "tables", "Measures tables beside peers, indexes built beside a writer, and ranges that are deleted.",
            async (parsed, session, stop) =>
            {
                var sizes = new Sizes(parsed.GetValue(rows), parsed.GetValue(indexRows), parsed.GetValue(entries));
                if (sizes is { Rows: 0, IndexRows: 0, Entries: 0 })
                    throw new BenchmarkException("--rows 0, --index-rows 0 and --entries 0 leave nothing to measure");
                session.CheckDevice(Math.Max(2000L * Math.Max(sizes.Rows, sizes.IndexRows), 300L * sizes.Entries));
                var all = new TableFigures();
                var packages = new PackageGenerator();
                await MeasuringSession.RoundsAsync(parsed.GetValue(rounds), round => round < 0
                    ? MeasureRoundAsync(
                        new Place(session.Area.Path, packages), new Sizes(sizes.Rows / 10, sizes.IndexRows / 10, sizes.Entries / 10),
                        new TableFigures(), round, stop)
                    : MeasureRoundAsync(new Place(session.Area.Path, packages), sizes, all, round, stop)).ConfigureAwait(false);
                session.FinishWith(TablesReport.Create(all), new { session.Machine, all.Tables, all.Shared, all.Expired, all.Builds, all.Deletes });
            },
            rounds, rows, indexRows, entries);
    }

    private static async Task MeasureRoundAsync(Place place, Sizes sizes, TableFigures figures, int round, CancellationToken stop)
    {
        var (directory, packages) = place;
        if (sizes.Rows > 0)
        {
            TableWay[] ways = [.. TableCatalog.All.Where(way => way.IsInstalled()), .. TableCatalog.Variants];
            TableRun[] runs =
            [
                .. MeasuringSession.InTurn(ways, round, stop).Select(way => TableRun.Measure(way, directory, packages, sizes.Rows, round)),
            ];
            MeasuringSession.RequireEqualAnswers(runs, run => run.Way, run => run.Checksum);
            figures.Tables.AddRange(runs);
            figures.Shared.Add(SharedIndexRun.Measure(directory, packages, sizes.Rows));
            stop.ThrowIfCancellationRequested();
            figures.Expired.Add(await ExpiryRun.MeasureAsync(directory, packages, sizes.Rows, stop).ConfigureAwait(false));
        }

        if (sizes.IndexRows > 0)
            figures.Builds.AddRange(await MeasureBuildsAsync(place, sizes.IndexRows, round, stop).ConfigureAwait(false));
        stop.ThrowIfCancellationRequested();
        if (sizes.Entries > 0)
            figures.Deletes.Add(RangeDeleteRun.Measure(directory, sizes.Entries, rangeFirst: round % 2 == 0));
    }

    private static async Task<List<IndexBuildRun>> MeasureBuildsAsync(Place place, int rows, int round, CancellationToken stop)
    {
        var runs = new List<IndexBuildRun>();
        foreach (var isOwn in MeasuringSession.InTurn([false, true], round, stop))
        {
            runs.Add(isOwn
                ? await IndexBuildRun.MeasureOwnAsync(place.Directory, place.Packages, rows, LoadTime, stop).ConfigureAwait(false)
                : IndexBuildRun.MeasureSqlite(place.Directory, place.Packages, rows));
        }

        MeasuringSession.RequireEqualAnswers(runs, run => run.Way, run => run.Checksum);
        return runs;
    }

    private sealed record Place(string Directory, PackageGenerator Packages);

    private sealed record Sizes(int Rows, int IndexRows, int Entries);
}
