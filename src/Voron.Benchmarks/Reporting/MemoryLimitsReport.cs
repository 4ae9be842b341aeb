using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Reporting;

/// <summary>One phase under one limit.</summary>
/// <param name="Phase">The work.</param>
/// <param name="LimitBytes">The limit of the group; null for none.</param>
/// <param name="WasKilled">Whether the system ended the process.</param>
/// <param name="PeakBytes">The most bytes of the group at a time, page cache included.</param>
/// <param name="AnonymousBytes">The most bytes of anonymous memory.</param>
/// <param name="Result">What the process reported; null if it was ended before.</param>
internal sealed record MemoryLimitRow(
    MemoryPhase Phase, long? LimitBytes, bool WasKilled, long PeakBytes, long AnonymousBytes, MemoryPhaseResult? Result)
{
    public double? OperationsPerSecond => Result?.Operations / Result?.Seconds;
}

/// <summary>Reports the memory of each phase, and its speed beside that without a limit.</summary>
internal static class MemoryLimitsReport
{
    private static readonly string[] Columns =
        ["work", "limit", "survived", "peak", "anonymous", "native limit", "native peak", "puts/s", "of unlimited", "replayed"];

    public static Report Create(IReadOnlyList<MemoryLimitRow> rows) => new(
        "Memory limits",
        [
            "Every process has default options, apart from one transaction, which sets MaxTransactionBytes to 2 GiB. Peak includes page cache, which the "
                + "system takes back when it needs memory; anonymous memory includes the runtime and its heap; native is the memory of the environment.",
        ],
        [new ReportTable("Puts, updates, a large transaction and a recovery by the limit of memory", TextColumns: 3, Columns, [.. rows.Select(row => Cells(row, rows))])]);

    /// <summary>Describes a row while others are still being measured.</summary>
    public static string Describe(MemoryLimitRow row) =>
        $"{Name(row.Phase)}, {LimitOf(row)}: {(row.WasKilled ? "killed" : $"{Figures.Count(row.OperationsPerSecond)} puts/s")}";

    private static string[] Cells(MemoryLimitRow row, IReadOnlyList<MemoryLimitRow> rows)
    {
        var unlimited = rows.FirstOrDefault(other => other.Phase == row.Phase && other.LimitBytes is null);
        return
        [
            Name(row.Phase),
            LimitOf(row),
            row.WasKilled ? "killed" : "yes",
            Figures.Bytes(row.PeakBytes),
            Figures.Bytes(row.AnonymousBytes),
            Figures.Bytes(row.Result?.LimitBytes),
            Figures.Bytes(row.Result?.NativePeakBytes),
            Figures.Count(row.OperationsPerSecond),
            Figures.Percent(row.OperationsPerSecond / unlimited?.OperationsPerSecond),
            Figures.Bytes(row.Result?.ReplayedBytes),
        ];
    }

    private static string LimitOf(MemoryLimitRow row) => row.LimitBytes is null ? "none" : $"{row.LimitBytes >> 20} MiB";

    private static string Name(MemoryPhase phase) => phase switch
    {
        MemoryPhase.Put => "random puts, 100 a transaction",
        MemoryPhase.UpdateBehindReader => "random updates behind a reader",
        MemoryPhase.OneTransaction => "one transaction",
        MemoryPhase.LeaveJournal => "puts left in the journal",
        MemoryPhase.Recover => "recovery",
        _ => phase.ToString(),
    };
}
