namespace Voron.Benchmarks.Reporting;

/// <summary>The measurements of one engine at one size.</summary>
/// <param name="Memory">How much memory there was and how it was limited.</param>
internal sealed record ScaleRow(string Engine, long Items, string Memory, RunResult Load, RunResult Get, RunResult Put)
{
    /// <summary>Marks a row that was measured without a limit.</summary>
    public const string AllMemory = "all";

    public RunResult[] Results => [Load, Get, Put];
}

/// <summary>Reports the cost of an operation against the size of the store.</summary>
internal static class ScaleReport
{
    private static readonly string[] Columns =
        ["engine", "items", "get us", "put us", "load items/s", "resident", "anonymous", "on disk", "seconds", "note", "memory"];

    public static Report Create(IReadOnlyList<ScaleRow> rows) => new(
        "Cost as the store grows",
        [],
        [
            new ReportTable(
                "Random gets and durable random puts, 100 a transaction, after a sorted bulk load", TextColumns: 1, Columns, [.. rows.Select(Cells)]),
        ]);

    /// <exception cref="BenchmarkException">Two engines read different bytes from the same items.</exception>
    public static void RequireAgreement(IReadOnlyList<ScaleRow> rows)
    {
        foreach (var size in
            rows.Where(row => row is { Memory: ScaleRow.AllMemory, Get.IsCut: false }).GroupBy(row => row.Items))
        {
            if (size.Select(row => row.Get.Checksum).Distinct().Count() > 1)
                throw new BenchmarkException($"The engines disagree on the content that they read from {size.Key:N0} items.");
        }
    }

    private static string[] Cells(ScaleRow row) =>
    [
        row.Engine,
        Figures.Count(row.Items),
        Figures.Decimal(1e6 / row.Get.OperationsPerSecond),
        Figures.Decimal(1e6 / row.Put.OperationsPerSecond),
        Figures.Count(row.Load.OperationsPerSecond),
        Figures.Bytes(row.Get.Memory?.ResidentBytes),
        Figures.Bytes(row.Get.Memory?.AnonymousBytes),
        Figures.Bytes(row.Put.AllocatedBytesClosed),
        Figures.Decimal(row.Results.Sum(result => result.ProcessSeconds)),
        string.Join("; ", row.Results.Where(result => result.IsCut).Select(result => $"{result.Workload} {result.Note}")),
        row.Memory,
    ];
}
