using System.CommandLine;
using Spectre.Console;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Processes;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Commands;

/// <summary>The workloads whose figures the engine's history published, measured again on this machine.</summary>
internal static class SeedsCommand
{
    private const long SequentialItems = 10_000_000;
    private const long RandomItems = 500_000;
    private const long RandomReads = 1_000_000;

    /// <summary>Data file, journals and what a flush adds, for every byte of key and value; generous.</summary>
    private const int SpaceFactor = 4;

    private static readonly (WorkloadDefinition Workload, long Items, long Operations)[] Plan =
    [
        (WorkloadCatalog.SequentialInsert, SequentialItems, SequentialItems),
        (WorkloadCatalog.SequentialRead, SequentialItems, SequentialItems),
        (WorkloadCatalog.RandomInsert, RandomItems, RandomItems),
        (WorkloadCatalog.RandomUpdate, RandomItems, RandomItems),
        (WorkloadCatalog.RandomRead, RandomItems, RandomReads),
    ];

    public static Command Create()
    {
        Option<double> scale = CommonOptions.Scale();
        Option<string?> json = CommonOptions.Json();
        Option<string> directory = CommonOptions.Directory();
        Option<string?> markdown = CommonOptions.Markdown();
        var command = new Command("seeds", "Repeats the published workloads and prints the figures beside the published ones.")
        {
            scale, json, markdown, directory,
        };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            using var area = new WorkArea(parsed.GetRequiredValue(directory));
            List<RunResult> results = await RunAsync(
                area, parsed.GetValue(scale), parsed.GetValue(json), cancellationToken).ConfigureAwait(false);
            if (parsed.GetValue(markdown) is { } path)
            {
                string text = SeedsReport.ToMarkdown(MachineSummary.Describe(area.Path), results);
                await File.WriteAllTextAsync(path, text, cancellationToken).ConfigureAwait(false);
            }
        });
        return command;
    }

    private static async Task<List<RunResult>> RunAsync(
        WorkArea area, double scale, string? jsonPath, CancellationToken cancellationToken)
    {
        RunRequest[] requests = Array.ConvertAll(Plan, step => new RunRequest(
            EngineCatalog.Voron,
            step.Workload,
            area.StorePath(EngineCatalog.Voron, step.Workload.Store),
            Scaling.Apply(step.Items, scale),
            Scaling.Apply(step.Operations, scale),
            Round: 0));
        long itemBytes = ItemGenerator.KeyBytes + ItemGenerator.ValueBytes;
        long storedItems = requests.Where(request => request.Workload.CreatesStore).Sum(request => request.Items);
        DiskUsage.RequireFreeSpace(area.Path, storedItems * itemBytes * SpaceFactor);

        MachineSummary machine = MachineSummary.Describe(area.Path);
        AnsiConsole.WriteLine(machine.ToString());
        IReadOnlyList<ProbeResult> rawDevice = DeviceCommand.Preface(area.Path);
        List<RunResult> results = await MeasureAsync(requests, cancellationToken).ConfigureAwait(false);
        AnsiConsole.WriteLine($"{results[0].Engine}: {results[0].Settings}");
        SeedsReport.Write(AnsiConsole.Console, results);
        if (jsonPath is not null)
            new ResultFile(DateTimeOffset.UtcNow, machine, rawDevice, results).Save(jsonPath);
        return results;
    }

    private static async Task<List<RunResult>> MeasureAsync(RunRequest[] requests, CancellationToken cancellationToken)
    {
        var results = new List<RunResult>();
        await AnsiConsole.Progress()
            .Columns(new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new RemainingTimeColumn())
            .StartAsync(async context =>
            {
                ProgressTask[] tasks = Array.ConvertAll(requests, request =>
                    context.AddTask($"{request.Workload.Title}, {request.Operations:N0}", autoStart: false, maxValue: 1));
                for (int i = 0; i < requests.Length; i++)
                {
                    ProgressTask task = tasks[i];
                    task.StartTask();
                    results.Add(await MeasuringProcess
                        .RunAsync(requests[i], fraction => task.Value = fraction, cancellationToken)
                        .ConfigureAwait(false));
                    task.Value = 1;
                    task.StopTask();
                }
            }).ConfigureAwait(false);
        return results;
    }
}
