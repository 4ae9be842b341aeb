using System.CommandLine;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures the workloads for which the engine's history published figures.</summary>
internal static class SeedsCommand
{
    private const long SequentialItems = 10_000_000;
    private const long RandomItems = 500_000;
    private const long RandomReads = 1_000_000;

    /// <summary>A generous estimate of data file, journals and pages being flushed, per byte of key and value.</summary>
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
        var scale = CommandOptions.Scale();
        return CommandOptions.Create(
            "seeds", "Repeats the published workloads and prints measured and published figures side by side.",
            async (parsed, session, stop) =>
            {
                var requests = Requests(session.Area, parsed.GetValue(scale));
                var storedItems = requests.Where(request => request.Workload.CreatesStore).Sum(request => request.Items);
                session.CheckDevice(storedItems * (ItemGenerator.KeyBytes + ItemGenerator.ValueBytes) * SpaceFactor);
                var results = await MeasureAsync(requests, stop).ConfigureAwait(false);
                session.Finish(SeedsReport.Create(results), results);
            },
            scale);
    }

    private static RunRequest[] Requests(WorkArea area, double scale) => Array.ConvertAll(Plan, step => new RunRequest(
        EngineCatalog.Voron,
        step.Workload,
        area.StorePath(EngineCatalog.Voron, step.Workload.Store),
        WorkloadDefinition.Scale(step.Items, scale),
        WorkloadDefinition.Scale(step.Operations, scale),
        Round: 0));

    private static async Task<List<RunResult>> MeasureAsync(RunRequest[] requests, CancellationToken stop)
    {
        var results = new List<RunResult>();
        await MeasuringSession.ShowProgressAsync(requests.Sum(request => request.Operations), async progress =>
        {
            foreach (var request in requests)
            {
                progress.Description = $"{request.Workload.Title}, {request.Operations:N0}";
                results.Add(await MeasuringSession.RunAsync(request, progress, request.Operations, stop).ConfigureAwait(false));
            }
        }).ConfigureAwait(false);
        return results;
    }
}
