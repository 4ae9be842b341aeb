namespace Voron.Benchmarks.Reporting;

/// <summary>Reports medians over the rounds, the goals, and whether the engines returned the same bytes.</summary>
internal sealed class ComparisonReport
{
    private const string NotInstalled = "not installed";
    private static readonly string[] GoalColumns = ["workload", "goal", "measured", "verdict"];

    private readonly Comparison _comparison;
    private readonly IReadOnlyList<SyncCount> _counts;
    private readonly Medians _medians;
    private readonly Medians _durable;
    private readonly ComparisonTables _tables;
    private readonly string[] _settings;
    private readonly string[] _disagreements;

    public ComparisonReport(Comparison comparison, IReadOnlyList<RunResult> results, IReadOnlyList<SyncCount> counts)
    {
        _comparison = comparison;
        _counts = counts;
        string[] notDurable = [.. counts.Where(count => count.IsDurable == false).Select(count => count.Engine)];
        _medians = new Medians(results);
        _durable = new Medians([.. results.Where(result => !notDurable.Contains(result.Engine))]);
        _tables = new ComparisonTables(_durable, notDurable);
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

    private IEnumerable<RunResult[]> AllRuns =>
        from step in ReportedSteps
        from engine in _comparison.AllEngines
        let runs = _medians.Runs(step.Workload, engine.Name)
        where runs.Length != 0
        select runs;

    public Report Create() => new(
        "Comparison of engines",
        [.. Notes()],
        [
            DurabilityTable(),
            .. _tables.All.Select(table => table.Columns.With(Rows(table))),
            _tables.FirstSecondCommits(AllRuns.Where(runs => runs.Any(run => run.FirstSecond is not null))),
            Durations(),
            new ReportTable("Goals", GoalColumns.Length, GoalColumns, [.. Goals()]),
        ])
    {
        Conclusion = "Checksums: " + (_disagreements.Length == 0 ? "all agree" : string.Join("; ", _disagreements)),
    };

    /// <summary>A picture of the rates.</summary>
    public ComparisonChart CreateChart() => new(
        [.. ReportedSteps.Select(step => step.Workload)],
        [.. _comparison.Engines.Where(engine => engine.IsInstalled() && !engine.IsJournalVariant).Select(engine => engine.Name)],
        _medians, _durable);

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
        .. ReportedSteps.Select(step => $"{step.Workload.Title}: {step.Items:N0} items, {step.Operations:N0} operations"
            + (step.Workload.ItemsPerTransaction == 0 ? "" : $", {step.Workload.ItemsPerTransaction:N0} per transaction")),
        .. _settings,
        .. from engine in _comparison.Engines
           where !engine.IsInstalled()
           select $"{engine.Name}: {NotInstalled}, {engine.InstallHint}",
    ];

    private IEnumerable<string[]> Rows(ComparisonTable table)
    {
        foreach (var step in ReportedSteps)
        {
            foreach (var engine in _comparison.AllEngines)
            {
                var runs = _medians.Runs(step.Workload, engine.Name);
                if (runs.Length != 0 && table.Has(runs))
                    yield return table.Columns.Row(runs);
                else if (table.NamesMissing && (engine.IsInstalled() ? engine.LeavesOut(step.Workload) : NotInstalled) is { } reason)
                    yield return [step.Workload.Title, engine.Name, .. Enumerable.Repeat("", table.Columns.Headers.Count - 3), reason];
            }
        }
    }

    private ReportTable DurabilityTable() => new TableOf<SyncCount>("Durability, counted")
        .Text("engine", count => count.Engine)
        .Count("commits", count => count.Commits)
        .Count("syncs", count => count.Syncs)
        .Count("write-through writes", count => count.WriteThroughWrites)
        .Text("verdict", count => count.IsDurable switch
        {
            true => "enough for each commit",
            false => "fewer than commits: not durable",
            null => $"not counted: {count.Reason}",
        })
        .OfEach(_counts);

    private ReportTable Durations()
    {
        EngineDescriptor[] engines = [.. _comparison.AllEngines.Where(engine => engine.IsInstalled())];
        var totals = new double[engines.Length];
        var rows = new List<string[]>();
        foreach (var step in _comparison.Steps)
        {
            var seconds = Array.ConvertAll(engines, engine => _medians.Of(step.Workload, engine.Name, run => run.ProcessSeconds));
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
        return from goal in Reporting.Goals.Evaluate(_durable)
               where reported.Contains(goal.Workload)
               orderby reported.IndexOf(goal.Workload)
               select (string[])[goal.Workload, goal.Goal, goal.Measured, goal.Verdict];
    }
}

/// <summary>The results of a comparison by workload and engine.</summary>
internal sealed class Medians(IReadOnlyList<RunResult> results)
{
    private readonly ILookup<(string Workload, string Engine), RunResult> _results =
        results.ToLookup(result => (result.Workload, result.Engine));

    private readonly string[] _engines = [.. results.Select(result => result.Engine).Distinct()];

    public RunResult[] Runs(WorkloadDefinition workload, string engine) => [.. _results[(workload.Name, engine)]];

    public double? Of(WorkloadDefinition workload, string engine, Func<RunResult, double?> figure) => Figures.Median(Runs(workload, engine), figure);

    public double? Rate(WorkloadDefinition workload, string engine) => Of(workload, engine, run => run.OperationsPerSecond);

    /// <summary>The rate of the fastest peer.</summary>
    public double? BestPeer(WorkloadDefinition workload) =>
        _engines.Where(engine => !EngineCatalog.Find(engine).IsOurs).Max(engine => Rate(workload, engine));
}
