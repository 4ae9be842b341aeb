namespace Voron.Benchmarks.Reporting;

/// <summary>All figures of one workload on one engine. Null where the engine or the system does not report a figure.</summary>
internal sealed record RunResult
{
    public required string Engine { get; init; }
    public required string Settings { get; init; }
    public required string Workload { get; init; }
    public required int Round { get; init; }
    public required long Items { get; init; }
    public required long Operations { get; init; }
    public required long Transactions { get; init; }

    /// <summary>Time inside the engine's calls, over which rates are calculated.</summary>
    public required double EngineSeconds { get; init; }

    /// <summary>Processor time, managed memory and elapsed time, including the creation of keys and values.</summary>
    public required ProcessUsage Usage { get; init; }

    /// <summary>The share of the engine's time that it spent in the device's write calls at commits.</summary>
    public double? DeviceShare { get; init; }

    /// <summary>Durable writes as large as the commits, without an engine, just after the run.</summary>
    public PacedProbeResult? PacedProbe { get; init; }

    /// <summary>The raw device's rate for large writes just after the run, for workloads that write large values.</summary>
    public double? SequentialMegabytesPerSecond { get; init; }

    /// <summary>The rate of the reader that runs beside the writer.</summary>
    public double? ReaderOperationsPerSecond { get; init; }

    /// <summary>For reads by several threads: how memory itself scales.</summary>
    public MemoryProbeResult? MemoryProbe { get; init; }

    /// <summary>Of the commits that ended while the engine flushed.</summary>
    public LatencySummary? CommitLatencyBesideFlushes { get; init; }

    public long CommitsBesideFlushes { get; init; }

    /// <summary>A probe of the same writes without an engine, just after the run.</summary>
    public FlushingProbeResult? FlushingProbe { get; init; }

    /// <summary>For reads of large values: the rate of adding up values in the process's own memory.</summary>
    public double? MemoryPassMegabytesPerSecond { get; init; }

    /// <summary>After the first tenth of the run.</summary>
    public double? ManagedBytesPerOperation { get; init; }

    /// <summary>The page size, for engines that count the pages of a commit.</summary>
    public int? PageBytes { get; init; }

    /// <summary>True if the time ran out before all operations were done, so that the checksum covers other items than for other engines.</summary>
    public bool IsCut { get; init; }

    /// <summary>Null if the process had warmed up before it opened the store.</summary>
    public FirstSecondResult? FirstSecond { get; init; }

    /// <summary>The lifetime of the process.</summary>
    public double ProcessSeconds { get; init; }

    public string? Note { get; init; }
    public MemoryUse? Memory { get; init; }

    /// <summary>Bytes of key and value that an operation reads or writes.</summary>
    public long BytesPerOperation { get; init; }

    /// <summary>Null for reads.</summary>
    public LatencySummary? CommitLatency { get; init; }

    /// <summary>Null for reads.</summary>
    public LatencySummary? TransactionLatency { get; init; }

    /// <summary>Reported by the engine itself.</summary>
    public CommitSummary? Commits { get; init; }

    public FlushSummary? Flushes { get; init; }

    /// <summary>Written to the block device by all processes, from the first transaction until the store was closed.</summary>
    public long? DeviceBytesWritten { get; init; }

    public long? DeviceWrites { get; init; }

    /// <summary>On disk after transaction <see cref="EngineObserver.PublishedTransactions"/>, or the last before it.</summary>
    public long? AllocatedBytesAtPublishedPoint { get; init; }

    /// <summary>On disk before the store was opened.</summary>
    public long AllocatedBytesBefore { get; init; }

    /// <summary>Of the file that holds the items, before the store was opened. 0 if there is no such file.</summary>
    public long DataFileBytesBefore { get; init; }

    /// <summary>Of the file that holds the items, after the store was closed.</summary>
    public long? DataFileBytesClosed { get; init; }

    /// <summary>On disk after the last transaction, before closing.</summary>
    public required long AllocatedBytes { get; init; }

    public required long AllocatedBytesClosed { get; init; }

    /// <summary>Over the items read, or after writes over a scan of the whole store. Engines must agree.</summary>
    public required string Checksum { get; init; }

    /// <summary>The rate of the whole run; of a run that has not warmed up, that of its first second.</summary>
    public double OperationsPerSecond => FirstSecond?.OperationsPerSecond ?? Operations / EngineSeconds;

    public double MegabytesPerSecond => OperationsPerSecond * BytesPerOperation / 1e6;

    /// <summary>Journal bytes as a share of the bytes of all changed pages.</summary>
    public double? JournalShareOfPages =>
        Commits is { } commits && PageBytes is { } bytes ? commits.JournalBytes.Total / (commits.PagesChanged.Total * bytes) : null;

    public double TransactionsPerSecond => Transactions / EngineSeconds;

    public double ManagedBytesPerTransaction => (double)Usage.AllocatedBytes / Transactions;

    /// <summary>The commits that the engine reports, which can hold the puts of many callers, otherwise the transactions.</summary>
    public long DurableCommits => Commits?.PagesChanged.Count ?? Transactions;

    /// <summary>
    /// The engine's time outside the device. Engines that do not report their time in the device, and large values, which are written
    /// beside the journal, wait for the device outside the time reported; so it is at most the processor time of the process.
    /// </summary>
    public double ComputingSecondsPerCommit => Math.Min(EngineSeconds * Math.Max(0, 1 - (DeviceShare ?? 0)), Usage.CpuSeconds) / DurableCommits;

    /// <summary>The rate of commits as a share of the rate of durable writes of that size in a tight loop.</summary>
    public double? ShareOfTightLoop => PacedProbe?.Tight.MeanMicroseconds * DurableCommits / EngineSeconds / 1e6;

    /// <summary>The same for writes that took as long as beside computing. An engine that computed nothing would reach 1.</summary>
    public double? ShareOfRawDevice => PacedProbe?.Paced.MeanMicroseconds * DurableCommits / EngineSeconds / 1e6;

    /// <summary>The median of the raw writes beside computing as a share of the median transaction. Null if commits hold several.</summary>
    public double? ShareByMedians => DurableCommits == Transactions ? PacedProbe?.Paced.P50Microseconds / TransactionLatency?.P50Microseconds : null;
}
