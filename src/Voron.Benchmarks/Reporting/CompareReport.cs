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
    private const string Title = "Comparison (medians; every commit durable unless the settings say otherwise)";

    private static readonly string[] Columns =
    [
        "workload", "engine", "operations/s", "slowest", "fastest", "ratio to first", "commit p50 us", "commit p99 us", "commit max us",
        "tx p50 us", "tx p99 us", "device bytes a tx", "on disk", "CPU s", "managed B a tx",
    ];

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
        Table table = Tables.Create(Title, Columns[0], Columns.AsSpan(1));
        foreach (string[] row in Rows())
            table.AddRow(Array.ConvertAll(row, Markup.Escape));
        console.Write(table);
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
                $"- raw device, {probe.WriteBytes >> 10} KiB: {probe.MicrosecondsPerWrite:N1} us a write, {probe.MegabytesPerSecond:N1} MB/s");
        }
        foreach (string line in Preface())
            text.AppendLine(CultureInfo.InvariantCulture, $"- {line}");
        text.AppendLine();
        text.AppendLine(CultureInfo.InvariantCulture, $"| {string.Join(" | ", Columns)} |");
        text.AppendLine(CultureInfo.InvariantCulture, $"|---|---|{string.Concat(Enumerable.Repeat("---:|", Columns.Length - 2))}");
        foreach (string[] row in Rows())
            text.AppendLine(CultureInfo.InvariantCulture, $"| {string.Join(" | ", row)} |");
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
    ];

    private IEnumerable<string[]> Rows()
    {
        foreach (Comparison.Step step in _comparison.Steps.Where(step => step.IsReported))
        {
            double? first = null;
            foreach (EngineDescriptor engine in _comparison.Engines)
            {
                RunResult[] runs = [.. _results[(step.Workload.Name, engine.Name)]];
                if (runs.Length == 0)
                {
                    yield return [step.Workload.Title, engine.Name, $"not installed: {engine.InstallHint}", .. Enumerable.Repeat("", Columns.Length - 3)];
                    continue;
                }
                double speed = Figures.Median(runs.Select(run => run.OperationsPerSecond));
                first ??= speed;
                yield return Row(step.Workload, engine.Name, runs, speed, speed / first.Value);
            }
        }
    }

    private static string[] Row(WorkloadDefinition workload, string engine, RunResult[] runs, double speed, double ratio) =>
    [
        workload.Title,
        engine,
        Figures.Count(speed),
        Figures.Count(runs.Min(run => run.OperationsPerSecond)),
        Figures.Count(runs.Max(run => run.OperationsPerSecond)),
        Figures.Ratio(ratio),
        Figures.Microseconds(Median(runs, run => run.CommitLatency?.P50Microseconds)),
        Figures.Microseconds(Median(runs, run => run.CommitLatency?.P99Microseconds)),
        Figures.Microseconds(Median(runs, run => run.CommitLatency?.MaxMicroseconds)),
        Figures.Microseconds(Median(runs, run => run.TransactionLatency?.P50Microseconds)),
        Figures.Microseconds(Median(runs, run => run.TransactionLatency?.P99Microseconds)),
        workload.Writes ? Figures.Bytes(Median(runs, run => (double?)run.DeviceBytesWritten / run.Transactions)) : Figures.None,
        Figures.Bytes(Median(runs, run => run.AllocatedBytes)),
        Figures.Decimal(Median(runs, run => run.Usage.CpuSeconds)),
        Figures.Decimal(Median(runs, run => run.ManagedBytesPerTransaction)),
    ];

    private static double? Median(RunResult[] runs, Func<RunResult, double?> figure)
    {
        double[] known = [.. runs.Select(figure).OfType<double>()];
        return known.Length == 0 ? null : Figures.Median(known);
    }
}
