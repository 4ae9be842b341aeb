using Voron.Tables;

namespace Voron.Benchmarks.Measurement;

/// <summary>One run of adding an index to a table that has rows.</summary>
/// <param name="BesideMilliseconds">The same beside a writer; null for an engine that has no writers meanwhile.</param>
internal sealed record IndexBuildRun(
    string Way, int Rows, double Milliseconds, double? BesideMilliseconds, LatencySummary? Alone, LatencySummary? Beside, string Checksum)
{
    /// <summary>The rows that a transaction of the writer changes.</summary>
    public const int RowsPerCommit = 10;

    private const int MostBytes = 1 << 30;
    private const string BesideName = "section, beside a writer";

    /// <summary>Builds an index of Voron, and then the same one beside a writer.</summary>
    public static async Task<IndexBuildRun> MeasureOwnAsync(
        string directory, PackageGenerator packages, int rows, TimeSpan loadTime, CancellationToken stop)
    {
        using var place = new WorkArea(directory);
        using var store = new VoronTable(place.Path, VoronTable.WithoutSections);
        store.Fill(packages, rows);
        var indexed = VoronTable.WithSections(VoronTable.WithoutSections, VoronTable.Sections);
        var build = await BuildAsync(store, indexed, stop).ConfigureAwait(false);
        var checksum = Read(store, packages);
        var alone = await WriteWhileAsync(store, packages, rows, Task.Delay(loadTime, stop)).ConfigureAwait(false);
        var building = Task.Run(() => BuildAsync(store, VoronTable.WithSections(indexed, BesideName), stop), stop);
        var beside = await WriteWhileAsync(store, packages, rows, building).ConfigureAwait(false);
        return new IndexBuildRun(TableCatalog.Own, rows, build, await building.ConfigureAwait(false), alone, beside, checksum);
    }

    /// <summary>Builds the same index of SQLite, which has no writer meanwhile.</summary>
    public static IndexBuildRun MeasureSqlite(string directory, PackageGenerator packages, int rows)
    {
        using var place = new WorkArea(directory);
        using var store = new SqliteTable(place.Path, isIndexed: false);
        store.Fill(packages, rows);
        var began = Stopwatch.GetTimestamp();
        store.CreateIndex();
        var build = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        return new IndexBuildRun(TableCatalog.Sqlite, rows, build, null, null, null, Read(store, packages));
    }

    private static async Task<double> BuildAsync(VoronTable store, TableDefinition<string, Package> definition, CancellationToken stop)
    {
        var began = Stopwatch.GetTimestamp();
        await store.EvolveAsync(definition, stop).ConfigureAwait(false);
        return Stopwatch.GetElapsedTime(began).TotalMilliseconds;
    }

    private static string Read(TableStore store, PackageGenerator packages)
    {
        var sum = new RowChecksum(isWhole: false);
        store.BeginRead();
        foreach (var section in packages.Sections)
            store.Read(PackageIndex.Section, section, int.MaxValue, ref sum);
        store.EndRead();
        return $"{sum.Sum:x16}";
    }

    // One writer as long as a task runs, once at least.
    private static async Task<LatencySummary> WriteWhileAsync(VoronTable store, PackageGenerator packages, int rows, Task task)
    {
        var histogram = new LatencyHistogram();
        await Task.Factory.StartNew(
            () =>
            {
                var random = new Random(3);
                var computation = new Computation();
                do
                {
                    var began = Stopwatch.GetTimestamp();
                    store.BeginWrite();
                    for (var i = 0; i < RowsPerCommit; i++)
                        store.SetSize(packages.IdOf(random.Next(rows)), random.Next(MostBytes));
                    store.Commit();
                    histogram.Record(Clock.Nanoseconds(began, Stopwatch.GetTimestamp()));
                    computation.Run(100_000);
                }
                while (!task.IsCompleted);
            },
            CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default).ConfigureAwait(false);
        await task.ConfigureAwait(false);
        return histogram.Summarise()!;
    }
}
