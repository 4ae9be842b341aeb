using Columns = Voron.Benchmarks.Reporting.TableOf<Voron.Benchmarks.Reporting.RunResult>;

namespace Voron.Benchmarks.Reporting;

/// <summary>A table of workload, engine, and the figures of one engine's runs of one workload.</summary>
/// <param name="Has">Selects the runs that have a row.</param>
/// <param name="NamesMissing">True if an engine that is not installed has a row that says so.</param>
internal sealed record ComparisonTable(Columns Columns, Func<RunResult[], bool> Has, bool NamesMissing = false);

/// <summary>The tables of a comparison. Journal variants have rows only in that of journals.</summary>
/// <param name="medians">Of the engines that make each commit durable, with which others are compared.</param>
/// <param name="notDurable">The other engines, whose rates stand in a table of their own.</param>
internal sealed class ComparisonTables(Medians medians, IReadOnlyCollection<string> notDurable)
{
    public IReadOnlyList<ComparisonTable> All =>
    [
        new(Speed("Speed (medians; microseconds of a transaction)"), runs => IsRacing(runs) && IsDurable(runs), NamesMissing: true),
        new(Speed("Speed of engines that do not make each commit durable"), runs => IsRacing(runs) && !IsDurable(runs)),
        new(Processor, IsRacing),
        new(Commits, runs => IsRacing(runs) && runs[0].CommitLatency is not null),
        new(RawDevice, runs => IsRacing(runs) && runs.Any(run => run.PacedProbe is not null)),
        new(BesideFlushes, runs => IsRacing(runs) && runs.Any(run => run.CommitLatencyBesideFlushes is not null)),
        new(Costs, IsRacing), new(LargeValues, runs => IsRacing(runs) && runs[0].BytesPerOperation > 1024),
        new(Journal, runs => runs[0].Commits is not null), new(Flushes, runs => IsRacing(runs) && runs[0].Flushes is not null),
        new(FirstSeconds, runs => runs.Any(run => run.FirstSecond is not null)),
    ];

    private Columns Speed(string title) => Of(title)
        .Count("operations/s", run => run.OperationsPerSecond)
        .Microseconds("p50", run => run.TransactionLatency?.P50Microseconds)
        .Microseconds("p99", run => run.TransactionLatency?.P99Microseconds)
        .Microseconds("p99.9", run => run.TransactionLatency?.P999Microseconds)
        .Cell("slowest", runs => Figures.Count(runs.Min(run => run.OperationsPerSecond)))
        .Cell("fastest", runs => Figures.Count(runs.Max(run => run.OperationsPerSecond)))
        .Decimal("MB/s", run => run.MegabytesPerSecond)
        .Cell("Voron to it", runs => Figures.Ratio(medians.Rate(WorkloadOf(runs[0]), EngineCatalog.Voron) / Rate(runs)))
        .Cell("to best peer", runs => Figures.Ratio(Rate(runs) / medians.BestPeer(WorkloadOf(runs[0]))))
        .Percent("in device", run => run.DeviceShare)
        .Percent("of raw device", run => run.ShareOfRawDevice)
        .Text("note", run => run.Note ?? "");

    private Columns Processor => Of("Processor time of all threads (medians, microseconds an operation; user and system)")
        .Count("operations/s", run => run.OperationsPerSecond)
        .Decimal("user", run => run.Usage.UserSeconds * 1e6 / run.Operations)
        .Decimal("system", run => run.Usage.SystemSeconds * 1e6 / run.Operations)
        .Decimal("both", ProcessorMicroseconds)
        .Cell("Voron's to it", runs => Figures.Ratio(
            medians.Of(WorkloadOf(runs[0]), EngineCatalog.Voron, ProcessorMicroseconds) / Figures.Median(runs, ProcessorMicroseconds)))
        .Decimal("processors in use", run => run.Usage.CpuSeconds / run.Usage.WallSeconds)
        .Decimal("elapsed between calls", MicrosecondsBetweenCalls);

    private Columns Commits =>
        Of("Commits (medians of the rounds, microseconds; a transaction is from its beginning to the end of its commit)")
            .Latency("commit p50", run => run.CommitLatency).Latency("transaction p50", run => run.TransactionLatency);

    private Columns RawDevice => Of("The raw device after each run (medians of the rounds, microseconds a durable write as large as a commit)")
        .Decimal("KB", run => run.PacedProbe?.RecordBytes / 1024.0)
        .Latency("tight loop p50", run => run.PacedProbe?.Tight, hasTail: false)
        .Microseconds("computing", run => run.PacedProbe?.ComputingMicroseconds)
        .Latency("after computing p50", run => run.PacedProbe?.Paced, hasTail: false)
        .Percent("of tight loop", run => run.ShareOfTightLoop)
        .Percent("of raw device", run => run.ShareOfRawDevice)
        .Percent("by medians", run => run.ShareByMedians);

    private Columns BesideFlushes => Of("Commits while flushing, beside a bare probe that writes the same (medians, microseconds)")
        .Count("commits", run => run.CommitsBesideFlushes)
        .Latency("p50", run => run.CommitLatencyBesideFlushes)
        .Latency("probe p50", run => run.FlushingProbe?.Latency)
        .Ratio("p99.9 to probe's", FlushingRatio)
        .Decimal("probe's buffered MB/s", run => run.FlushingProbe?.BufferedMegabytesPerSecond);

    private Columns Costs => Of("Costs (medians)")
        .Decimal("device B a user B", DeviceBytesPerUserByte)
        .Decimal("device writes a tx", run => (double?)run.DeviceWrites / run.Transactions)
        .Bytes("on disk before", run => run.AllocatedBytesBefore).Bytes("after", run => run.AllocatedBytes)
        .Bytes("closed", run => run.AllocatedBytesClosed)
        .Decimal("elapsed s", run => run.Usage.WallSeconds)
        .Bytes("resident", run => run.Memory?.ResidentBytes).Bytes("anonymous", run => run.Memory?.AnonymousBytes)
        .Bytes("managed heap", run => run.Memory?.ManagedBytes)
        .Decimal("managed B an op, steady", run => run.ManagedBytesPerOperation);

    private Columns LargeValues => Of("Large values (medians)")
        .Decimal("MB/s", run => run.MegabytesPerSecond)
        .Decimal("raw device, 1 MiB writes in a tight loop, MB/s", run => run.SequentialMegabytesPerSecond)
        .Percent("of this sequential rate", SequentialShare)
        .Percent("of durable writes as large as a commit, beside computing", run => run.ShareOfRawDevice)
        .Percent("of a pass over memory", MemoryShare);

    private Columns Journal => Of("Journal (medians): what a transaction writes, beside its changed pages written whole")
        .Count("operations/s", run => run.OperationsPerSecond)
        .Decimal("pages a tx", run => run.Commits?.PagesChanged.Average)
        .Decimal("whole pages, KB a tx", run => run.Commits?.PagesChanged.Average * run.PageBytes / 1024)
        .Decimal("journal, KB a tx", run => run.Commits?.JournalBytes.Average / 1024)
        .Percent("saved", run => 1 - run.JournalShareOfPages);

    private Columns Flushes => Of("Flushes to the data file (medians)")
        .Count("flushes", run => run.Flushes?.Pages.Count)
        .Count("pages a flush", run => run.Flushes?.Pages.Average)
        .Decimal("seeks a flush", run => run.Flushes?.Seeks.Average)
        .Decimal("seeks for 250 pages", SeeksFor250Pages)
        .Ratio("bytes to pages written one by one", FlushedToPages)
        .Decimal("ms a flush", run => run.Flushes?.Milliseconds.Average);

    private Columns FirstSeconds
    {
        get
        {
            var columns = Of("First second of a process (medians; operations/s within the engine, by time since it began to open the store)")
                .Decimal("opening, ms", run => run.FirstSecond?.OpeningMilliseconds)
                .Decimal("first transaction, ms", run => run.FirstSecond?.FirstTransactionMilliseconds);
            for (var i = 0; i < FirstSecond.ReportedSlices; i++)
            {
                var slice = i;
                columns.Count(Label(slice), run => run.FirstSecond?.Slices[slice].OperationsPerSecond);
            }

            return columns.Count("third second", run => run.FirstSecond?.SteadyOperationsPerSecond)
                .Percent("200 to 400 ms, of it", run => run.FirstSecond?.EarlyShare);
        }
    }

    /// <summary>The commits of each slice of the first second, and of the third second.</summary>
    public ReportTable FirstSecondCommits(IEnumerable<RunResult[]> rows)
    {
        const string Title = "Commits of the first second (medians, microseconds)";
        Columns[] slices =
        [
            .. Enumerable.Range(0, FirstSecond.ReportedSlices).Select(slice => CommitsOf(Label(slice), run => run.FirstSecond?.Slices[slice])),
            CommitsOf("third second", run => run.FirstSecond?.Steady),
        ];
        return new ReportTable(Title, TextColumns: 3, [.. slices[0].Headers], [.. rows.SelectMany(runs => slices.Select(slice => slice.Row(runs)))]);

        Columns CommitsOf(string time, Func<RunResult, TimeSliceResult?> slice) => Of(Title)
            .Text("time", _ => time).Count("commits", run => slice(run)?.Commits).Latency("p50", run => slice(run)?.Latency);
    }

    public static double? FlushingRatio(RunResult run) =>
        run.CommitLatencyBesideFlushes?.P999Microseconds / run.FlushingProbe?.Latency.P999Microseconds;

    public static double? SeeksFor250Pages(RunResult run) => run.Flushes?.Seeks.Total * 250 / run.Flushes?.Pages.Total;

    public static double? FlushedToPages(RunResult run) => run.Flushes?.Bytes.Total / (run.Flushes?.Pages.Total * run.PageBytes);

    public static double? SequentialShare(RunResult run) => run.MegabytesPerSecond / run.SequentialMegabytesPerSecond;

    public static double? MemoryShare(RunResult run) => run.MegabytesPerSecond / run.MemoryPassMegabytesPerSecond;

    public static double? DeviceBytesPerUserByte(RunResult run) =>
        (double?)run.DeviceBytesWritten / (run.Operations * Math.Max(1, run.BytesPerOperation));

    private static double? ProcessorMicroseconds(RunResult run) => run.Usage.CpuSeconds * 1e6 / run.Operations;

    private Columns Of(string title) => new Columns(title, textColumns: 2)
        .Text("workload", run => WorkloadOf(run).Title)
        .Text("engine", run => notDurable.Contains(run.Engine) ? $"{run.Engine} (not durable)" : run.Engine);

    private static WorkloadDefinition WorkloadOf(RunResult run) => WorkloadCatalog.Find(run.Workload);

    private static double? Rate(IEnumerable<RunResult> runs) => Figures.Median(runs, run => run.OperationsPerSecond);

    private bool IsDurable(RunResult[] runs) => !notDurable.Contains(runs[0].Engine);

    private static bool IsRacing(RunResult[] runs) => !EngineCatalog.Find(runs[0].Engine).IsJournalVariant;

    /// <summary>The time in which the benchmark makes keys and values. Null where it does so beside the engine's calls.</summary>
    private static double? MicrosecondsBetweenCalls(RunResult run)
    {
        var workload = WorkloadOf(run);
        return workload.Callers > 1 || workload.Kind is WorkloadKind.UpdateWhileReading or WorkloadKind.Open
            ? null
            : Math.Max(0, run.Usage.WallSeconds - run.EngineSeconds) * 1e6 / run.Operations;
    }

    private static string Label(int slice) => $"{slice * FirstSecond.SliceMilliseconds} to {(slice + 1) * FirstSecond.SliceMilliseconds} ms";
}
