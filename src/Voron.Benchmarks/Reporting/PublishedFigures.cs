using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Reporting;

/// <summary>The published figures of one workload. Null where nothing was published.</summary>
internal sealed record PublishedWorkload
{
    public double? ItemsPerSecond { get; init; }

    public double? TransactionsPerSecond { get; init; }

    public double? PagesAverage { get; init; }

    public double? PagesMax { get; init; }

    public double? PagesTotal { get; init; }

    public double? PagesStandardDeviation { get; init; }

    public double? JournalBytes { get; init; }

    public double? AllocatedBytes { get; init; }

    /// <summary>The goal of this engine in journal bytes per transaction.</summary>
    public double? JournalBytesGoal { get; init; }
}

/// <summary>
/// The figures from the engine's own history that the workloads reproduce. They come from a laptop's disk of 2011; pages and bytes are
/// over 5,000 transactions of 100 items.
/// </summary>
internal static class PublishedFigures
{
    public const string FlushSeeksBeforeSections = "170";
    public const string FlushSeeksWithSections = "6 to 13";
    public const string FlushPages = "206 to 250";

    private const double SequentialItemsPerSecond = 450_000;
    private const double RandomSlowdown = 40;

    private static readonly PublishedWorkload Nothing = new();

    private static readonly PublishedWorkload SequentialInsert = new()
    {
        ItemsPerSecond = SequentialItemsPerSecond,
        TransactionsPerSecond = 4_521,
        PagesAverage = 7.06,
        PagesMax = 11,
        PagesTotal = 35_320,
        PagesStandardDeviation = 0.35,
        JournalBytes = 137e6,
        AllocatedBytes = 319e6,
        JournalBytesGoal = 16 << 10,
    };

    private static readonly PublishedWorkload RandomInsert = new()
    {
        ItemsPerSecond = SequentialItemsPerSecond / RandomSlowdown,
        TransactionsPerSecond = SequentialItemsPerSecond / RandomSlowdown / 100,
        PagesAverage = 111.37,
        PagesMax = 134,
        PagesTotal = 556_973,
        PagesStandardDeviation = 7.09,
        JournalBytes = 2.1e9,
        AllocatedBytes = 2.3e9,
        JournalBytesGoal = 20 << 10,
    };

    public static PublishedWorkload Of(WorkloadDefinition workload) =>
        workload == WorkloadCatalog.SequentialInsert ? SequentialInsert
        : workload == WorkloadCatalog.RandomInsert ? RandomInsert
        : Nothing;
}
