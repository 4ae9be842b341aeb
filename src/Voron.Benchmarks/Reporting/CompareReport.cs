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
    private const string NotInstalled = "not installed";

    private static readonly ReportTable Speed = new(
        "Speed (medians; every commit durable unless the settings say otherwise)",
        [
            "workload", "engine", "operations/s", "slowest", "fastest", "ratio to first", "commit p50 us", "commit p99 us",
            "commit max us", "tx p50 us", "tx p99 us",
        ],
        (runs, ratio) =>
        [
            Figures.Count(Median(runs, run => run.OperationsPerSecond)),
            Figures.Count(runs.Min(run => run.OperationsPerSecond)),
            Figures.Count(runs.Max(run => run.OperationsPerSecond)),
            Figures.Ratio(ratio),
            Figures.Microseconds(Median(runs, run => run.CommitLatency?.P50Microseconds)),
            Figures.Microseconds(Median(runs, run => run.CommitLatency?.P99Microseconds)),
            Figures.Microseconds(Median(runs, run => run.CommitLatency?.MaxMicroseconds)),
            Figures.Microseconds(Median(runs, run => run.TransactionLatency?.P50Microseconds)),
            Figures.Microseconds(Median(runs, run => run.TransactionLatency?.P99Microseconds)),
        ]);

    private static readonly ReportTable Costs = new(
        "Costs (medians)",
        [
            "workload", "engine", "device bytes a tx", "device writes a tx", "process bytes a tx", "on disk", "closed", "CPU s",
            "elapsed s", "managed B a tx",
        ],
        (runs, _) =>
        [
            Figures.Bytes(Median(runs, run => (double?)run.DeviceBytesWritten / run.Transactions)),
            Figures.Decimal(Median(runs, run => (double?)run.DeviceWrites / run.Transactions)),
            Figures.Bytes(Median(runs, run => (double?)run.ProcessBytesWritten / run.Transactions)),
            Figures.Bytes(Median(runs, run => run.AllocatedBytes)),
            Figures.Bytes(Median(runs, run => run.AllocatedBytesClosed)),
            Figures.Decimal(Median(runs, run => run.Usage.CpuSeconds)),
            Figures.Decimal(Median(runs, run => run.Usage.WallSeconds)),
            Figures.Decimal(Median(runs, run => run.ManagedBytesPerTransaction)),
        ]);

    private readonly Comparison _comparison;
    private readonly ILookup<(string Workload, string Engine), RunResult> _results;
    private readonly List<string> _settings;
    private readonly List<string> _disagreements;

    public CompareReport(Comparison comparison, IReadOnlyList<RunResult> results)
    {
        _comparison = comparison;
        _results = results.ToLookup(result => (result.Workload, result.Engine));
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
        foreach (ReportTable form in (ReadOnlySpan<ReportTable>)[Speed, Costs])
        {
            Table table = Tables.Create(form.Title, form.Columns[0], form.Columns.AsSpan(1));
            foreach (string[] row in Rows(form))
                table.AddRow(Array.ConvertAll(row, Markup.Escape));
            console.Write(table);
        }
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
        foreach (ReportTable form in (ReadOnlySpan<ReportTable>)[Speed, Costs])
        {
            text.AppendLine().AppendLine(CultureInfo.InvariantCulture, $"## {form.Title}").AppendLine();
            text.AppendLine(CultureInfo.InvariantCulture, $"| {string.Join(" | ", form.Columns)} |");
            string numbers = string.Concat(Enumerable.Repeat("---:|", form.Columns.Length - NameColumns));
            text.AppendLine(CultureInfo.InvariantCulture, $"|---|---|{numbers}");
            foreach (string[] row in Rows(form))
                text.AppendLine(CultureInfo.InvariantCulture, $"| {string.Join(" | ", row)} |");
        }
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
            double? firstSpeed = null;
            foreach (EngineDescriptor engine in _comparison.Engines)
            {
                RunResult[] runs = [.. _results[(step.Workload.Name, engine.Name)]];
                if (runs.Length == 0)
                {
                    string[] blank = [.. Enumerable.Repeat("", form.Columns.Length - NameColumns - 1)];
                    yield return [step.Workload.Title, engine.Name, NotInstalled, .. blank];
                    continue;
                }
                double? speed = Median(runs, run => run.OperationsPerSecond);
                firstSpeed ??= speed;
                yield return [step.Workload.Title, engine.Name, .. form.Cells(runs, speed / firstSpeed)];
            }
        }
    }

    private static double? Median(RunResult[] runs, Func<RunResult, double?> figure)
    {
        double[] known = [.. runs.Select(figure).OfType<double>()];
        return known.Length == 0 ? null : Figures.Median(known);
    }

    /// <param name="Title">Above the table.</param>
    /// <param name="Columns">Workload, engine, and the figures.</param>
    /// <param name="Cells">The figures of one engine's runs, given its speed relative to the first engine's.</param>
    private sealed record ReportTable(string Title, string[] Columns, Func<RunResult[], double?, string[]> Cells);
}
