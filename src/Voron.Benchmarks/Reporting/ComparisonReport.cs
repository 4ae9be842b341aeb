using System.Globalization;
using System.Text;
using Spectre.Console;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Reporting;

/// <summary>Medians over the rounds, and whether the engines returned the same bytes.</summary>
internal sealed class ComparisonReport
{
    private const int NameColumns = 2;
    private static readonly string[] GoalColumns = ["workload", "goal", "measured", "verdict"];
    private const string NotInstalled = "not installed";
    private const string DurationTitle = "Seconds of each measuring process, warm-up and checks included (medians)";

    private readonly Comparison _comparison;
    private readonly Medians _medians;
    private readonly IReadOnlyList<GoalResult> _goals;
    private readonly List<string> _settings;
    private readonly List<string> _disagreements;

    public ComparisonReport(Comparison comparison, IReadOnlyList<RunResult> results)
    {
        _comparison = comparison;
        _medians = new Medians(results);
        List<string> reported = [.. comparison.Steps.Where(step => step.IsReported).Select(step => step.Workload.Title)];
        _goals =
        [
            .. Goals.Evaluate(_medians).Where(goal => reported.Contains(goal.Workload)).OrderBy(goal => reported.IndexOf(goal.Workload)),
        ];
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

    public void Write(IAnsiConsole console)
    {
        foreach (string line in Preface())
            console.WriteLine(line);
        foreach (ComparisonTable form in Forms())
        {
            Table table = Tables.Create(form.Title, form.Columns[0], form.Columns.AsSpan(1));
            foreach (string[] row in Rows(form))
                table.AddRow(Array.ConvertAll(row, Markup.Escape));
            console.Write(table);
        }
        Table durations = Tables.Create(DurationTitle, DurationColumns()[0], DurationColumns().AsSpan(1));
        foreach (string[] row in DurationRows())
            durations.AddRow(row);
        console.Write(durations);
        Table goals = Tables.Create("Goals", GoalColumns[0], GoalColumns.AsSpan(1));
        foreach (string[] row in GoalRows())
            goals.AddRow(Array.ConvertAll(row, Markup.Escape));
        console.Write(goals);
        console.MarkupLineInterpolated($"Checksums: {Agreement()}");
    }

    public string ToMarkdown(MachineSummary machine, IReadOnlyList<ProbeResult> rawDevice)
    {
        var text = new StringBuilder();
        text.AppendLine("## Comparison").AppendLine();
        text.AppendLine(machine.ToString()).AppendLine();
        foreach (ProbeResult probe in rawDevice)
        {
            text.AppendLine(
                CultureInfo.InvariantCulture,
                $"- raw device, {probe.WriteBytes >> 10} KiB: {probe.MicrosecondsPerWrite:N1} us, {probe.MegabytesPerSecond:N1} MB/s");
        }
        foreach (string line in Preface())
            text.AppendLine(CultureInfo.InvariantCulture, $"- {line}");
        foreach (ComparisonTable form in Forms())
            MarkdownTable.Append(text, form.Title, NameColumns, form.Columns, Rows(form));
        MarkdownTable.Append(text, DurationTitle, 1, DurationColumns(), DurationRows());
        MarkdownTable.Append(text, "Goals", GoalColumns.Length, GoalColumns, GoalRows());
        text.AppendLine().AppendLine(CultureInfo.InvariantCulture, $"Checksums: {Agreement()}");
        return text.ToString();
    }

    /// <exception cref="BenchmarkException">Two engines did the same work and returned different bytes.</exception>
    public void RequireAgreement()
    {
        if (_disagreements.Count != 0)
            throw new BenchmarkException($"The engines disagree. {string.Join("; ", _disagreements)}");
    }

    private string Agreement() => _disagreements.Count == 0 ? "all agree" : string.Join("; ", _disagreements);

    private IEnumerable<string> Preface() =>
    [
        $"{_comparison.Rounds} {(_comparison.Rounds == 1 ? "round" : "rounds")}; keys of {ItemGenerator.KeyBytes} and values of {ItemGenerator.ValueBytes} bytes",
        .. _comparison.Steps.Where(step => step.IsReported).Select(step =>
            $"{step.Workload.Title}: {step.Items:N0} items, {step.Operations:N0} operations"
            + (step.Workload.ItemsPerTransaction == 0 ? "" : $", {step.Workload.ItemsPerTransaction:N0} a transaction")),
        .. _settings,
        .. from engine in _comparison.Engines
           where !engine.IsInstalled()
           select $"{engine.Name}: {NotInstalled}, {engine.InstallHint}",
    ];

    private IEnumerable<string[]> Rows(ComparisonTable form)
    {
        foreach (Comparison.Step step in _comparison.Steps.Where(step => step.IsReported))
        {
            double? ours = _medians.Rate(step.Workload, EngineCatalog.Voron);
            double? bestPeer = _medians.BestPeer(step.Workload)?.Rate;
            foreach (EngineDescriptor engine in _comparison.AllEngines)
            {
                RunResult[] runs = _medians.Runs(step.Workload, engine.Name);
                if (runs.Length != 0 && form.Has(runs))
                {
                    var figures = new RowFigures(_medians.Rate(step.Workload, engine.Name), ours, bestPeer);
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

    /// <summary>The tables that have anything to say of this comparison.</summary>
    private IEnumerable<ComparisonTable> Forms() => ComparisonTables.All.Where(form => Rows(form).Any());

    private string[] DurationColumns() => ["workload", .. _comparison.AllEngines.Where(engine => engine.IsInstalled()).Select(engine => engine.Name)];

    private IEnumerable<string[]> DurationRows()
    {
        EngineDescriptor[] engines = [.. _comparison.AllEngines.Where(engine => engine.IsInstalled())];
        var totals = new double[engines.Length];
        foreach (Comparison.Step step in _comparison.Steps)
        {
            double?[] seconds = Array.ConvertAll(
                engines, engine => Medians.Of(_medians.Runs(step.Workload, engine.Name), run => run.ProcessSeconds));
            for (int i = 0; i < engines.Length; i++)
                totals[i] += seconds[i] ?? 0;
            yield return [step.Workload.Title, .. seconds.Select(figure => figure is null ? "" : Figures.Decimal(figure))];
        }
        yield return ["one round", .. totals.Select(total => Figures.Decimal(total))];
    }

    private IEnumerable<string[]> GoalRows() => _goals.Select(goal => (string[])[goal.Workload, goal.Goal, goal.Measured, goal.Verdict]);
}
