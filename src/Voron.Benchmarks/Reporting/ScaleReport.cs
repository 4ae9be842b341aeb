using System.Text;
using Spectre.Console;

namespace Voron.Benchmarks.Reporting;

/// <summary>One engine at one size.</summary>
/// <param name="Memory">How much there was, and by what it was limited.</param>
internal sealed record ScaleRow(string Engine, long Items, string Memory, RunResult Load, RunResult Get, RunResult Put)
{
    public RunResult[] Results => [Load, Get, Put];

    public double GetMicroseconds => 1e6 / Get.OperationsPerSecond;

    public double PutMicroseconds => 1e6 / Put.OperationsPerSecond;
}

/// <summary>The cost of an operation against the size of the store.</summary>
internal sealed class ScaleReport(IReadOnlyList<ScaleRow> rows)
{
    private const string Title = "Cost as the store grows: random gets and durable random puts, 100 a transaction, after a sorted bulk load";
    private const int TextColumns = 1;
    private static readonly string[] Columns =
        ["engine", "items", "get us", "put us", "load items/s", "resident", "anonymous", "on disk", "seconds", "note", "memory"];

    public void Write(IAnsiConsole console)
    {
        Table table = Tables.Create(Title, Columns[0], Columns.AsSpan(1));
        foreach (string[] row in Cells())
            table.AddRow(Array.ConvertAll(row, Markup.Escape));
        console.Write(table);
    }

    public string ToMarkdown(MachineSummary machine)
    {
        var text = new StringBuilder();
        text.AppendLine("## Scale").AppendLine();
        text.AppendLine(machine.ToString());
        MarkdownTable.Append(text, Title, TextColumns, Columns, Cells());
        return text.ToString();
    }

    /// <exception cref="BenchmarkException">Two engines read different bytes from the same items.</exception>
    public void RequireAgreement()
    {
        foreach (IGrouping<long, ScaleRow> size in rows.Where(row => row is { Memory: "all", Get.IsCut: false }).GroupBy(row => row.Items))
        {
            if (size.Select(row => row.Get.Checksum).Distinct().Count() > 1)
                throw new BenchmarkException($"The engines disagree on what they read from {size.Key:N0} items.");
        }
    }

    private IEnumerable<string[]> Cells() => rows.Select(row => (string[])
    [
        row.Engine,
        Figures.Count(row.Items),
        Figures.Decimal(row.GetMicroseconds),
        Figures.Decimal(row.PutMicroseconds),
        Figures.Count(row.Load.OperationsPerSecond),
        Figures.Bytes(row.Get.Memory?.ResidentBytes),
        Figures.Bytes(row.Get.Memory?.AnonymousBytes),
        Figures.Bytes(row.Put.AllocatedBytesClosed),
        Figures.Decimal(row.Results.Sum(result => result.ProcessSeconds)),
        string.Join("; ", row.Results.Where(result => result.IsCut).Select(result => $"{result.Workload} {result.Note}")),
        row.Memory,
    ]);
}
