using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Reporting;

/// <summary>The results of a comparison by workload and engine.</summary>
internal sealed class Medians(IReadOnlyList<RunResult> results)
{
    private readonly ILookup<(string Workload, string Engine), RunResult> _results =
        results.ToLookup(result => (result.Workload, result.Engine));

    private readonly string[] _engines = [.. results.Select(result => result.Engine).Distinct()];

    public RunResult[] Runs(WorkloadDefinition workload, string engine) => [.. _results[(workload.Name, engine)]];

    public double? Of(WorkloadDefinition workload, string engine, Func<RunResult, double?> figure) => Of(Runs(workload, engine), figure);

    public double? Rate(WorkloadDefinition workload, string engine) => Of(workload, engine, run => run.OperationsPerSecond);

    /// <summary>The fastest peer other than <paramref name="except"/>.</summary>
    public (string Engine, double Rate)? BestPeer(WorkloadDefinition workload, string? except = null)
    {
        (string Engine, double Rate)? best = null;
        foreach (var engine in _engines.Where(engine => engine != except && !EngineCatalog.Find(engine).IsOurs))
        {
            if (Rate(workload, engine) is { } rate && rate > (best?.Rate ?? 0))
                best = (engine, rate);
        }
        return best;
    }

    public static double? Of(RunResult[] runs, Func<RunResult, double?> figure)
    {
        double[] known = [.. runs.Select(figure).OfType<double>()];
        return known.Length == 0 ? null : Figures.Median(known);
    }
}
