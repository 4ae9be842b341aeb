using System.Globalization;
using System.Text;
using Spectre.Console;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Reporting;

/// <summary>Medians over the rounds, and whether the engines returned the same bytes.</summary>
internal sealed class CompareReport
{
    private const int NameColumns = 2;
    private static readonly string[] GoalColumns = ["workload", "goal", "measured", "verdict"];
    private const string NotInstalled = "not installed";

    private static readonly ReportTable Speed = new(
        "Speed (medians; every commit durable unless the settings say otherwise)",
        ["workload", "engine", "operations/s", "slowest", "fastest", "MB/s", "Voron to it", "to best peer", "in device", "of raw device", "note"],
        (runs, row) =>
        [
            Figures.Count(row.Rate),
            Figures.Count(runs.Min(run => run.OperationsPerSecond)),
            Figures.Count(runs.Max(run => run.OperationsPerSecond)),
            Figures.Decimal(Medians.Of(runs, run => run.MegabytesPerSecond)),
            Figures.Ratio(row.OursRate / row.Rate),
            Figures.Ratio(row.Rate / row.BestPeerRate),
            Figures.Percent(Medians.Of(runs, run => run.DeviceShare)),
            Figures.Percent(Medians.Of(runs, run => run.ShareOfRawDevice)),
            runs[0].Note ?? "",
        ]);

    private static readonly ReportTable Latency = new(
        "Latency (medians, microseconds)",
        ["workload", "engine", "commit p50", "p99", "p99.9", "max", "tx p50", "p99", "p99.9", "max"],
        (runs, _) =>
        [
            Figures.Microseconds(Medians.Of(runs, run => run.CommitLatency?.P50Microseconds)),
            Figures.Microseconds(Medians.Of(runs, run => run.CommitLatency?.P99Microseconds)),
            Figures.Microseconds(Medians.Of(runs, run => run.CommitLatency?.P999Microseconds)),
            Figures.Microseconds(Medians.Of(runs, run => run.CommitLatency?.MaxMicroseconds)),
            Figures.Microseconds(Medians.Of(runs, run => run.TransactionLatency?.P50Microseconds)),
            Figures.Microseconds(Medians.Of(runs, run => run.TransactionLatency?.P99Microseconds)),
            Figures.Microseconds(Medians.Of(runs, run => run.TransactionLatency?.P999Microseconds)),
            Figures.Microseconds(Medians.Of(runs, run => run.TransactionLatency?.MaxMicroseconds)),
        ]);

    private static readonly ReportTable Costs = new(
        "Costs (medians)",
        [
            "workload", "engine", "device bytes a user byte", "device bytes a tx", "device writes a tx", "on disk before", "after", "closed",
            "CPU s", "elapsed s", "resident", "anonymous", "managed heap", "managed B a tx",
        ],
        (runs, _) =>
        [
            Figures.Decimal(Medians.Of(runs, run => (double?)run.DeviceBytesWritten / (run.Operations * Math.Max(1, run.BytesPerOperation)))),
            Figures.Bytes(Medians.Of(runs, run => (double?)run.DeviceBytesWritten / run.Transactions)),
            Figures.Decimal(Medians.Of(runs, run => (double?)run.DeviceWrites / run.Transactions)),
            Figures.Bytes(Medians.Of(runs, run => run.AllocatedBytesBefore)),
            Figures.Bytes(Medians.Of(runs, run => run.AllocatedBytes)),
            Figures.Bytes(Medians.Of(runs, run => run.AllocatedBytesClosed)),
            Figures.Decimal(Medians.Of(runs, run => run.Usage.CpuSeconds)),
            Figures.Decimal(Medians.Of(runs, run => run.Usage.WallSeconds)),
            Figures.Bytes(Medians.Of(runs, run => run.Memory?.ResidentBytes)),
            Figures.Bytes(Medians.Of(runs, run => run.Memory?.AnonymousBytes)),
            Figures.Bytes(Medians.Of(runs, run => run.Memory?.ManagedBytes)),
            Figures.Decimal(Medians.Of(runs, run => run.ManagedBytesPerTransaction)),
        ]);

    private static readonly ReportTable[] Forms = [Speed, Latency, Costs];

    private readonly Comparison _comparison;
    private readonly Medians _medians;
    private readonly IReadOnlyList<GoalResult> _goals;
    private readonly List<string> _settings;
    private readonly List<string> _disagreements;

    public CompareReport(Comparison comparison, IReadOnlyList<RunResult> results)
    {
        _comparison = comparison;
        _medians = new Medians(results);
        HashSet<string> reported = [.. comparison.Steps.Where(step => step.IsReported).Select(step => step.Workload.Title)];
        _goals = [.. Goals.Evaluate(_medians).Where(goal => reported.Contains(goal.Workload))];
        _settings = [.. results.DistinctBy(result => result.Engine).Select(result => $"{result.Engine}: {result.Settings}")];
        _disagreements =
        [
            .. from result in results
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
        foreach (ReportTable form in Forms)
        {
            Table table = Tables.Create(form.Title, form.Columns[0], form.Columns.AsSpan(1));
            foreach (string[] row in Rows(form))
                table.AddRow(Array.ConvertAll(row, Markup.Escape));
            console.Write(table);
        }
        Table goals = Tables.Create("Goals", GoalColumns[0], GoalColumns.AsSpan(1));
        foreach (string[] row in GoalRows())
            goals.AddRow(Array.ConvertAll(row, Markup.Escape));
        console.Write(goals);
        foreach (Comparison.Step step in _comparison.Steps.Where(step => step.IsReported))
            WriteBars(console, step.Workload);
        console.MarkupLineInterpolated($"Checksums: {Agreement()}");
    }

    public string ToMarkdown(MachineSummary machine, IReadOnlyList<ProbeResult> rawDevice)
    {
        var text = new StringBuilder();
        text.AppendLine("# Comparison").AppendLine();
        text.AppendLine(machine.ToString()).AppendLine();
        foreach (ProbeResult probe in rawDevice)
        {
            text.AppendLine(
                CultureInfo.InvariantCulture,
                $"- raw device, {probe.WriteBytes >> 10} KiB: {probe.MicrosecondsPerWrite:N1} us, {probe.MegabytesPerSecond:N1} MB/s");
        }
        foreach (string line in Preface())
            text.AppendLine(CultureInfo.InvariantCulture, $"- {line}");
        foreach (ReportTable form in Forms)
            MarkdownTable.Append(text, form.Title, NameColumns, form.Columns, Rows(form));
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
        $"{_comparison.Rounds} rounds; keys of {ItemGenerator.KeyBytes} and values of {ItemGenerator.ValueBytes} bytes",
        .. _comparison.Steps.Where(step => step.IsReported).Select(step =>
            $"{step.Workload.Title}: {step.Items:N0} items, {step.Operations:N0} operations"
            + (step.Workload.ItemsPerTransaction == 0 ? "" : $", {step.Workload.ItemsPerTransaction:N0} a transaction")),
        .. _settings,
        .. from engine in _comparison.Engines
           where !engine.IsInstalled()
           select $"{engine.Name}: {NotInstalled}, {engine.InstallHint}",
    ];

    private IEnumerable<string[]> Rows(ReportTable form)
    {
        foreach (Comparison.Step step in _comparison.Steps.Where(step => step.IsReported))
        {
            double? ours = _medians.Rate(step.Workload, EngineCatalog.Voron);
            double? bestPeer = _medians.BestPeer(step.Workload)?.Rate;
            foreach (EngineDescriptor engine in _comparison.Engines)
            {
                RunResult[] runs = _medians.Runs(step.Workload, engine.Name);
                if (runs.Length != 0)
                {
                    var figures = new RowFigures(_medians.Rate(step.Workload, engine.Name), ours, bestPeer);
                    yield return [step.Workload.Title, engine.Name, .. form.Cells(runs, figures)];
                }
                else if (!engine.IsInstalled())
                {
                    string[] blank = [.. Enumerable.Repeat("", form.Columns.Length - NameColumns - 1)];
                    yield return [step.Workload.Title, engine.Name, NotInstalled, .. blank];
                }
            }
        }
    }

    private IEnumerable<string[]> GoalRows() => _goals.Select(goal => (string[])[goal.Workload, goal.Goal, goal.Measured, goal.Verdict]);

    private ChartBar[] BarsOf(WorkloadDefinition workload) =>
    [
        .. from engine in _comparison.Engines
           let rate = _medians.Rate(workload, engine.Name)
           where rate is not null
           select new ChartBar(engine.Name, rate.Value),
    ];

    private void WriteBars(IAnsiConsole console, WorkloadDefinition workload)
    {
        BarChart chart = new BarChart().Label($"[bold]{Markup.Escape(workload.Title)}, operations/s[/]").LeftAlignLabel().Width(100);
        foreach (ChartBar bar in BarsOf(workload))
            chart.AddItem(bar.Name, Math.Round(bar.Value, 1), EngineCatalog.Find(bar.Name).IsOurs ? Color.Green : Color.Grey);
        console.Write(chart);
    }

    /// <summary>A bar chart for each workload, as a file of its name.</summary>
    public void SaveCharts(string directory)
    {
        Directory.CreateDirectory(directory);
        foreach (Comparison.Step step in _comparison.Steps.Where(step => step.IsReported))
        {
            string chart = SvgChart.Bars(step.Workload.Title, "operations a second", BarsOf(step.Workload));
            File.WriteAllText(Path.Combine(directory, step.Workload.Name + ".svg"), chart);
        }
    }

    private readonly record struct RowFigures(double? Rate, double? OursRate, double? BestPeerRate);

    /// <param name="Title">Above the table.</param>
    /// <param name="Columns">Workload, engine, and the figures.</param>
    /// <param name="Cells">The figures of one engine's runs.</param>
    private sealed record ReportTable(string Title, string[] Columns, Func<RunResult[], RowFigures, string[]> Cells);
}
