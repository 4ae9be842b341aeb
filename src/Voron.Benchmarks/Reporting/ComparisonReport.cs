using System.Globalization;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Reporting;

/// <summary>Reports medians over the rounds, the goals, and whether the engines returned the same bytes.</summary>
internal sealed class ComparisonReport
{
    private const int NameColumns = 2;
    private const string NotInstalled = "not installed";
    private static readonly string[] GoalColumns = ["workload", "goal", "measured", "verdict"];

    private readonly Comparison _comparison;
    private readonly Medians _medians;
    private readonly string[] _settings;
    private readonly string[] _disagreements;

    public ComparisonReport(Comparison comparison, IReadOnlyList<RunResult> results)
    {
        _comparison = comparison;
        _medians = new Medians(results);
        _settings = [.. results.DistinctBy(result => result.Engine).Select(result => $"{result.Engine}: {result.Settings}")];
        _disagreements =
        [
            .. from result in results
               where !result.IsCut
               group result by (result.Workload, result.Round) into sameWork
               where sameWork.Select(result => result.Checksum).Distinct().Count() > 1
               select $"{sameWork.Key.Workload}, round {sameWork.Key.Round + 1}: "
                   + string.Join(", ", sameWork.Select(result => $"{result.Engine} {result.Checksum}")),
        ];
    }

    private IEnumerable<Comparison.Step> ReportedSteps => _comparison.Steps.Where(step => step.IsReported);

    public Report Create() => new(
        "Comparison of engines",
        [.. Notes()],
        [
            .. ComparisonTables.All.Select(form => new ReportTable(form.Title, NameColumns, form.Columns, [.. Rows(form)])),
            .. FirstSecondTables.Create([.. FirstSeconds()]),
            Durations(),
            new ReportTable("Goals", GoalColumns.Length, GoalColumns, [.. Goals()]),
        ])
    {
        Conclusion = "Checksums: " + (_disagreements.Length == 0 ? "all agree" : string.Join("; ", _disagreements)),
    };

    /// <exception cref="BenchmarkException">Two engines did the same work and returned different bytes.</exception>
    public void RequireAgreement()
    {
        if (_disagreements.Length != 0)
            throw new BenchmarkException($"The engines disagree: {string.Join("; ", _disagreements)}");
    }

    private IEnumerable<string> Notes() =>
    [
        $"{_comparison.Rounds} {(_comparison.Rounds == 1 ? "round" : "rounds")}; "
            + $"keys of {ItemGenerator.KeyBytes} bytes and values of {ItemGenerator.ValueBytes} bytes",
        .. ReportedSteps.Select(step => string.Create(
            CultureInfo.InvariantCulture, $"{step.Workload.Title}: {step.Items:N0} items, {step.Operations:N0} operations")
            + (step.Workload.ItemsPerTransaction == 0 ? "" : $", {step.Workload.ItemsPerTransaction:N0} per transaction")),
        .. _settings,
        .. from engine in _comparison.Engines
           where !engine.IsInstalled()
           select $"{engine.Name}: {NotInstalled}, {engine.InstallHint}",
    ];

    private IEnumerable<string[]> Rows(ComparisonTable form)
    {
        foreach (var step in ReportedSteps)
        {
            var ours = _medians.Rate(step.Workload, EngineCatalog.Voron);
            var processor = _medians.Of(step.Workload, EngineCatalog.Voron, ComparisonTables.ProcessorMicroseconds);
            var bestPeer = _medians.BestPeer(step.Workload)?.Rate;
            foreach (var engine in _comparison.AllEngines)
            {
                var runs = _medians.Runs(step.Workload, engine.Name);
                if (runs.Length != 0 && form.Has(runs))
                {
                    var figures = new RowFigures(_medians.Rate(step.Workload, engine.Name), ours, bestPeer, processor);
                    yield return [step.Workload.Title, engine.Name, .. form.Cells(runs, figures)];
                }
                else if (form.NamesMissing && !engine.IsInstalled())
                {
                    string[] blank = [.. Enumerable.Repeat("", form.Columns.Length - NameColumns - 1)];
                    yield return [step.Workload.Title, engine.Name, NotInstalled, .. blank];
                }
            }
        }
    }

    private IEnumerable<(string Workload, string Engine, RunResult[] Runs)> FirstSeconds() =>
        from step in ReportedSteps
        from engine in _comparison.AllEngines
        let runs = _medians.Runs(step.Workload, engine.Name)
        where step.Workload.IsFirstSecond && runs.Length != 0
        select (step.Workload.Title, engine.Name, runs);

    private ReportTable Durations()
    {
        EngineDescriptor[] engines = [.. _comparison.AllEngines.Where(engine => engine.IsInstalled())];
        var totals = new double[engines.Length];
        var rows = new List<string[]>();
        foreach (var step in _comparison.Steps)
        {
            var seconds = Array.ConvertAll(
                engines, engine => Medians.Of(_medians.Runs(step.Workload, engine.Name), run => run.ProcessSeconds));
            for (var i = 0; i < engines.Length; i++)
                totals[i] += seconds[i] ?? 0;
            rows.Add([step.Workload.Title, .. seconds.Select(figure => figure is null ? "" : Figures.Decimal(figure))]);
        }
        rows.Add(["one round", .. totals.Select(total => Figures.Decimal(total))]);
        return new ReportTable(
            "Seconds of each measuring process, with warm-up and checks (medians)",
            TextColumns: 1,
            ["workload", .. engines.Select(engine => engine.Name)],
            rows);
    }

    /// <summary>In the order of the steps. Goals of workloads that were not measured are left out.</summary>
    private IEnumerable<string[]> Goals()
    {
        List<string> reported = [.. ReportedSteps.Select(step => step.Workload.Title)];
        return from goal in Reporting.Goals.Evaluate(_medians)
               where reported.Contains(goal.Workload)
               orderby reported.IndexOf(goal.Workload)
               select (string[])[goal.Workload, goal.Goal, goal.Measured, goal.Verdict];
    }
}
