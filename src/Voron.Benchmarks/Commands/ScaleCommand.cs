using System.CommandLine;
using System.Globalization;
using Spectre.Console;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Processes;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Commands;

/// <summary>The cost of one get and of one put, in transactions of 100, as the store grows tenfold at a time.</summary>
internal static class ScaleCommand
{
    private const long FirstItems = 10_000;
    private const long Operations = 200_000;
    private const int SpaceFactor = 6;

    public static Command Create()
    {
        Option<string> directory = CommonOptions.Directory();
        var max = new Option<long>("--max-items")
        {
            Description = "The largest store, such as 100000000.",
            DefaultValueFactory = _ => 10_000_000,
        };
        var engines = new Option<string[]>("--engines")
        {
            Description = "The engines to measure.",
            AllowMultipleArgumentsPerToken = true,
            DefaultValueFactory = _ => [EngineCatalog.Voron, EngineCatalog.Lmdb, EngineCatalog.RocksDb],
        };
        var limit = new Option<long>("--memory-limit")
        {
            Description = "MiB that each measuring process may use, its share of the page cache included, by a memory cgroup.",
            HelpName = "MIB",
        };
        var command = new Command("scale", "Measures a get and a put as the store grows.") { directory, max, engines, limit };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            using var area = new WorkArea(parsed.GetRequiredValue(directory), keep: false);
            using MemoryGroup? group = parsed.GetValue(limit) > 0 ? MemoryGroup.TryJoin(parsed.GetValue(limit) << 20, Say) : null;
            EngineDescriptor[] chosen = [.. CommonOptions.SplitNames(parsed.GetRequiredValue(engines)).Select(EngineCatalog.Find)];
            foreach (EngineDescriptor missing in chosen.Where(engine => !engine.IsInstalled()))
                Say($"{missing.Name}: not installed, {missing.InstallHint}");
            await RunAsync(area, [.. chosen.Where(engine => engine.IsInstalled())], parsed.GetValue(max), cancellationToken)
                .ConfigureAwait(false);
        });
        return command;
    }

    private static async Task RunAsync(WorkArea area, EngineDescriptor[] engines, long maxItems, CancellationToken cancellationToken)
    {
        DiskUsage.RequireFreeSpace(area.Path, maxItems * (ItemGenerator.KeyBytes + ItemGenerator.ValueBytes) * SpaceFactor);
        Table table = Tables.Create("Cost as the store grows", "engine", "items", "get us", "put us", "resident", "on disk");
        for (long items = FirstItems; items <= maxItems; items *= 10)
        {
            foreach (EngineDescriptor engine in engines)
            {
                Say(string.Create(CultureInfo.InvariantCulture, $"{engine.Name}, {items:N0} items"));
                string path = area.StorePath(engine.Name, WorkloadCatalog.BulkLoad.Store);
                Task<RunResult> Measure(WorkloadDefinition workload, long operations) => MeasuringProcess.RunAsync(
                    new RunRequest(engine.Name, workload, path, items, operations, Round: 0), null, cancellationToken);

                await Measure(WorkloadCatalog.BulkLoad, items).ConfigureAwait(false);
                RunResult get = await Measure(WorkloadCatalog.RandomRead, Operations).ConfigureAwait(false);
                RunResult put = await Measure(WorkloadCatalog.RandomUpdate, Operations).ConfigureAwait(false);
                table.AddRow(
                    engine.Name,
                    Figures.Count(items),
                    Figures.Decimal(1e6 / get.OperationsPerSecond),
                    Figures.Decimal(1e6 / put.OperationsPerSecond),
                    Figures.Bytes(get.Memory?.ResidentBytes),
                    Figures.Bytes(put.AllocatedBytesClosed));
                Directory.Delete(path, recursive: true);
            }
        }
        AnsiConsole.Write(table);
    }

    private static void Say(string message) => AnsiConsole.WriteLine(message);
}
