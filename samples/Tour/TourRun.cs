using System.Diagnostics;
using System.Reflection;
using System.Runtime.InteropServices;
using Microsoft.Data.Sqlite;
using Tour.Chapters;
using Tour.Data;
using Tour.Engines;
using Tour.Measuring;
using Tour.Output;
using Voron;

namespace Tour;

/// <summary>The chapters, in their order, and the table at the end.</summary>
internal sealed class TourRun(TourOptions options, Screen screen, CancellationToken stop)
{
    private const string SqliteFile = "sqlite.db";
    private const string VoronDirectory = "voron";

    private readonly long _began = Stopwatch.GetTimestamp();

    /// <summary>Runs the tour, and returns whether all checks have passed.</summary>
    public async Task<bool> RunAsync()
    {
        using var workplace = Workplace.Create(options.Directory, options.Time);
        Introduce(workplace);
        var data = await screen.ShowWorkAsync("Reading the data set", () => Task.Run(ReadData, stop));
        screen.Fact("Data", $"{data.Count:N0} entries, {data.Bytes / 1e6:F1} MB: {data.Description}");
        var contest = new Contest(screen, options.Time, stop);
        var tour = new TourContext(data, workplace, contest, [], options, stop) { Screen = screen, Checks = new(screen) };

        var (directory, file) = (workplace.PathOf(VoronDirectory), workplace.PathOf(SqliteFile));
        using var voron = new VoronStore(directory);
        using var sqlite = new SqliteStore(file);
        new CommitChapter(tour).Run(voron, sqlite);
        new LoadChapter(tour).Run(voron, sqlite);
        new ReadChapter(tour).Run(voron, sqlite);
        new RangeChapter(tour).Run(voron, sqlite);
        new SnapshotChapter(tour).Run(voron, sqlite);
        await new CallersChapter(tour).RunAsync(voron, sqlite);
        var kills = new KillChapter(tour);
        await kills.RunAsync();
        var repair = new RepairChapter(tour);
        await repair.RunAsync(voron, directory, sqlite, file);
        Conclude(tour, kills, repair);
        return tour.Checks.Failed.Count == 0;
    }

    private DataSet ReadData()
    {
        var random = new Random(options.Seed);
        return ApiDocumentation.Read(random, stop) ?? DocumentSections.Read(random)
            ?? throw new TourException(
                "Neither the documentation of .NET in the SDK nor the repository's own documents were found, so no data can be loaded.");
    }

    private void Introduce(Workplace workplace)
    {
        screen.SayWide("A tour of Voron");
        screen.SayWide("");
        screen.Fact(
            "Machine", $"{Environment.ProcessorCount} processors, {RuntimeInformation.OSDescription}, {RuntimeInformation.FrameworkDescription}");
        screen.Fact("Place", workplace.Description);
        screen.Fact("Engines", $"Voron {VersionOf(typeof(StorageEnvironment))} with default options");
        screen.Fact(
            "",
            $"SQLite {SqliteStore.Version} via Microsoft.Data.Sqlite {VersionOf(typeof(SqliteConnection))}: WAL and synchronous=FULL, "
            + "so that its commits are as durable, 256 MB of cache, a mapped file, prepared statements, BLOB keys WITHOUT ROWID");
        screen.Fact(
            "Rates",
            $"{options.Time.TotalSeconds:0.##} s per engine, in {Contest.Turns} alternating turns, after a warm-up; "
            + $"--seed {options.Seed} repeats the random choices");
    }

    private void Conclude(TourContext tour, KillChapter kills, RepairChapter repair)
    {
        screen.Heading("In short");
        screen.Table(tour.Rates);
        if (tour.Checks.Failed.Count > 0)
        {
            screen.SayWide($"Checks failed: {tour.Checks.Failed.Count}.");
            foreach (var failed in tour.Checks.Failed)
                screen.Say(failed);
            return;
        }

        var (least, most) = (tour.Rates.MinBy(static rate => rate.Ratio)!, tour.Rates.MaxBy(static rate => rate.Ratio)!);
        screen.SayWide(
            "With the same data and the same durability, Voron's rates are "
            + $"{least.Ratio:F1} times ({least.What}) to {most.Ratio:F1} times ({most.What}) those of SQLite. "
            + $"A process was killed {KillChapter.Count} times, and all {kills.Acknowledged:N0} commits that it had acknowledged survived as a whole. "
            + "Voron noticed a single flipped bit, and a restored backup undid it; "
            + $"SQLite {(repair.SqliteNoticed ? "noticed it, too" : "returned the changed text")}.");
        screen.SayWide("");
        screen.SayWide(
            "Read on: docs/getting-started.md for ten minutes of code, docs/concepts.md for what is promised, docs/operations.md for backups "
            + "and bad days, docs/comparison.md for other engines and when to take them, docs/correctness/evidence.md for power cuts and "
            + "other attacks.");
        if (tour.Workplace.IsKept)
            screen.SayWide($"Kept: {tour.Workplace.Root}. 'restored' is sound; 'voron' and '{SqliteFile}' are damaged on purpose.");
        screen.SayWide($"All {tour.Checks.Passed} checks passed, in {Stopwatch.GetElapsedTime(_began).TotalSeconds:F0} s.");
    }

    // Without what comes after a plus: the commit of the sources.
    private static string VersionOf(Type type) =>
        type.Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion.Split('+')[0] ?? "";
}
