using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Reporting;

/// <summary>A row's own rate and the rates that it is compared with.</summary>
internal readonly record struct RowFigures(double? Rate, double? OursRate, double? BestPeerRate, double? OursProcessorMicroseconds);

/// <param name="Title">The heading.</param>
/// <param name="Columns">Workload, engine, and the figures.</param>
/// <param name="Cells">The figures of one engine's runs of one workload.</param>
internal sealed record ComparisonTable(string Title, string[] Columns, Func<RunResult[], RowFigures, string[]> Cells)
{
    /// <summary>Selects the runs that have a row. By default all except those of journal variants.</summary>
    public Func<RunResult[], bool> Has { get; init; } = runs => !EngineCatalog.Find(runs[0].Engine).IsJournalVariant;

    /// <summary>True if an engine that is not installed has a row that says so.</summary>
    public bool NamesMissing { get; init; }
}

/// <summary>The tables of a comparison.</summary>
internal static class ComparisonTables
{
    public static IReadOnlyList<ComparisonTable> All { get; } =
    [
        new(
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
            ])
        {
            NamesMissing = true,
        },
        new(
            "Processor time of all threads (medians, microseconds an operation; user and system)",
            [
                "workload", "engine", "operations/s", "user", "system", "both", "Voron's to it", "processors in use", "elapsed between calls",
            ],
            (runs, row) =>
            [
                Figures.Count(row.Rate),
                Figures.Decimal(Medians.Of(runs, run => run.Usage.UserSeconds * 1e6 / run.Operations)),
                Figures.Decimal(Medians.Of(runs, run => run.Usage.SystemSeconds * 1e6 / run.Operations)),
                Figures.Decimal(Medians.Of(runs, ProcessorMicroseconds)),
                Figures.Ratio(row.OursProcessorMicroseconds / Medians.Of(runs, ProcessorMicroseconds)),
                Figures.Decimal(Medians.Of(runs, run => run.Usage.CpuSeconds / run.Usage.WallSeconds)),
                Figures.Decimal(Medians.Of(runs, MicrosecondsBetweenCalls)),
            ]),
        new(
            "Commits (medians of the rounds, microseconds; a transaction is from its beginning to the end of its commit)",
            [
                "workload", "engine", "commit p50", "mean", "p99", "p99.9", "max", "transaction p50", "mean", "p99", "p99.9", "max",
            ],
            (runs, _) => [.. Percentiles(runs, run => run.CommitLatency), .. Percentiles(runs, run => run.TransactionLatency)])
        {
            Has = runs => IsRacing(runs) && runs[0].CommitLatency is not null,
        },
        new(
            "The raw device after each run (medians of the rounds, microseconds a durable write as large as a commit)",
            [
                "workload", "engine", "KB", "tight loop p50", "mean", "p99", "computing", "beside it p50", "mean", "p99", "of tight loop",
                "of raw device", "by medians",
            ],
            (runs, _) =>
            [
                Figures.Decimal(Medians.Of(runs, run => run.PacedProbe?.RecordBytes / 1024.0)),
                .. MeanAndP99(runs, run => run.PacedProbe?.Tight),
                Figures.Microseconds(Medians.Of(runs, run => run.PacedProbe?.ComputingMicroseconds)),
                .. MeanAndP99(runs, run => run.PacedProbe?.Paced),
                Figures.Percent(Medians.Of(runs, run => run.ShareOfTightLoop)),
                Figures.Percent(Medians.Of(runs, run => run.ShareOfRawDevice)),
                Figures.Percent(Medians.Of(runs, run => run.ShareByMedians)),
            ])
        {
            Has = runs => IsRacing(runs) && runs.Any(run => run.PacedProbe is not null),
        },
        new(
            "Commits while flushing, beside a bare probe that writes the same (medians, microseconds)",
            [
                "workload", "engine", "commits", "p50", "mean", "p99", "p99.9", "max", "probe p50", "mean", "p99", "p99.9", "max",
                "p99.9 to probe's", "probe's buffered MB/s",
            ],
            (runs, _) =>
            [
                Figures.Count(Medians.Of(runs, run => run.CommitsBesideFlushes)),
                .. Percentiles(runs, run => run.CommitLatencyBesideFlushes),
                .. Percentiles(runs, run => run.FlushingProbe?.Latency),
                Figures.Ratio(Medians.Of(runs, FlushingRatio)),
                Figures.Decimal(Medians.Of(runs, run => run.FlushingProbe?.BufferedMegabytesPerSecond)),
            ])
        {
            Has = runs => IsRacing(runs) && runs.Any(run => run.CommitLatencyBesideFlushes is not null),
        },
        new(
            "Costs (medians)",
            [
                "workload", "engine", "device B a user B", "device writes a tx", "on disk before", "after", "closed",
                "elapsed s", "resident", "anonymous", "managed heap", "managed B an op, steady",
            ],
            (runs, _) =>
            [
                Figures.Decimal(Medians.Of(runs, DeviceBytesPerUserByte)),
                Figures.Decimal(Medians.Of(runs, run => (double?)run.DeviceWrites / run.Transactions)),
                Figures.Bytes(Medians.Of(runs, run => run.AllocatedBytesBefore)),
                Figures.Bytes(Medians.Of(runs, run => run.AllocatedBytes)),
                Figures.Bytes(Medians.Of(runs, run => run.AllocatedBytesClosed)),
                Figures.Decimal(Medians.Of(runs, run => run.Usage.WallSeconds)),
                Figures.Bytes(Medians.Of(runs, run => run.Memory?.ResidentBytes)),
                Figures.Bytes(Medians.Of(runs, run => run.Memory?.AnonymousBytes)),
                Figures.Bytes(Medians.Of(runs, run => run.Memory?.ManagedBytes)),
                Figures.Decimal(Medians.Of(runs, run => run.ManagedBytesPerOperation)),
            ]),
        new(
            "Large values (medians)",
            [
                "workload", "engine", "MB/s", "raw device, 1 MiB writes in a tight loop, MB/s", "of this sequential rate",
                "of durable writes as large as a commit, beside computing", "of a pass over memory",
            ],
            (runs, _) =>
            [
                Figures.Decimal(Medians.Of(runs, run => run.MegabytesPerSecond)),
                Figures.Decimal(Medians.Of(runs, run => run.SequentialMegabytesPerSecond)),
                Figures.Percent(Medians.Of(runs, SequentialShare)),
                Figures.Percent(Medians.Of(runs, run => run.ShareOfRawDevice)),
                Figures.Percent(Medians.Of(runs, MemoryShare)),
            ])
        {
            Has = runs => IsRacing(runs) && runs[0].BytesPerOperation > 1024,
        },
        new(
            "Journal (medians): what a transaction writes, beside its changed pages written whole",
            ["workload", "engine", "operations/s", "pages a tx", "whole pages, KB a tx", "journal, KB a tx", "saved"],
            (runs, row) =>
            [
                Figures.Count(row.Rate),
                Figures.Decimal(Medians.Of(runs, run => run.Commits?.PagesChanged.Average)),
                Figures.Decimal(Medians.Of(runs, run => run.Commits?.PagesChanged.Average * run.PageBytes / 1024)),
                Figures.Decimal(Medians.Of(runs, run => run.Commits?.JournalBytes.Average / 1024)),
                Figures.Percent(Medians.Of(runs, run => 1 - run.JournalShareOfPages)),
            ])
        {
            Has = runs => runs[0].Commits is not null,
        },
        new(
            "Flushes to the data file (medians)",
            [
                "workload", "engine", "flushes", "pages a flush", "seeks a flush", "seeks for 250 pages", "bytes to pages written one by one",
                "ms a flush",
            ],
            (runs, _) =>
            [
                Figures.Count(Medians.Of(runs, run => run.Flushes?.Pages.Count)),
                Figures.Count(Medians.Of(runs, run => run.Flushes?.Pages.Average)),
                Figures.Decimal(Medians.Of(runs, run => run.Flushes?.Seeks.Average)),
                Figures.Decimal(Medians.Of(runs, SeeksFor250Pages)),
                Figures.Ratio(Medians.Of(runs, FlushedToPages)),
                Figures.Decimal(Medians.Of(runs, run => run.Flushes?.Milliseconds.Average)),
            ])
        {
            Has = runs => IsRacing(runs) && runs[0].Flushes is not null,
        },
    ];

    public static double? FlushingRatio(RunResult run) =>
        run.CommitLatencyBesideFlushes?.P999Microseconds / run.FlushingProbe?.Latency.P999Microseconds;

    public static double? SeeksFor250Pages(RunResult run) => run.Flushes?.Seeks.Total * 250 / run.Flushes?.Pages.Total;

    public static double? FlushedToPages(RunResult run) => run.Flushes?.Bytes.Total / (run.Flushes?.Pages.Total * run.PageBytes);

    public static double? ProcessorMicroseconds(RunResult run) => run.Usage.CpuSeconds * 1e6 / run.Operations;

    public static double? SequentialShare(RunResult run) => run.MegabytesPerSecond / run.SequentialMegabytesPerSecond;

    public static double? MemoryShare(RunResult run) => run.MegabytesPerSecond / run.MemoryPassMegabytesPerSecond;

    public static double? DeviceBytesPerUserByte(RunResult run) =>
        (double?)run.DeviceBytesWritten / (run.Operations * Math.Max(1, run.BytesPerOperation));

    private static bool IsRacing(RunResult[] runs) => !EngineCatalog.Find(runs[0].Engine).IsJournalVariant;

    /// <summary>The time in which the benchmark makes keys and values. Null where it does so beside the engine's calls.</summary>
    private static double? MicrosecondsBetweenCalls(RunResult run)
    {
        var workload = WorkloadCatalog.Find(run.Workload);
        return workload.Callers > 1 || workload.Kind is WorkloadKind.UpdateWhileReading or WorkloadKind.Open
            ? null
            : Math.Max(0, run.Usage.WallSeconds - run.EngineSeconds) * 1e6 / run.Operations;
    }

    private static string[] MeanAndP99(RunResult[] runs, Func<RunResult, LatencySummary?> latency) =>
    [
        Figures.Microseconds(Medians.Of(runs, run => latency(run)?.P50Microseconds)),
        Figures.Microseconds(Medians.Of(runs, run => latency(run)?.MeanMicroseconds)),
        Figures.Microseconds(Medians.Of(runs, run => latency(run)?.P99Microseconds)),
    ];

    private static string[] Percentiles(RunResult[] runs, Func<RunResult, LatencySummary?> latency) =>
    [
        .. MeanAndP99(runs, latency),
        Figures.Microseconds(Medians.Of(runs, run => latency(run)?.P999Microseconds)),
        Figures.Microseconds(Medians.Of(runs, run => latency(run)?.MaxMicroseconds)),
    ];
}
