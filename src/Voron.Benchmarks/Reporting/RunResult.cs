using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Reporting;

/// <summary>Everything measured of one workload against one engine. Null where the engine or the system does not say.</summary>
internal sealed record RunResult
{
    public required string Engine { get; init; }

    public required string Settings { get; init; }

    public required string Workload { get; init; }

    public required int Round { get; init; }

    public required long Items { get; init; }

    public required long Operations { get; init; }

    public required long Transactions { get; init; }

    /// <summary>Time inside the engine's calls; rates are by it.</summary>
    public required double EngineSeconds { get; init; }

    /// <summary>Processor time, garbage and elapsed time, the making of keys and values included.</summary>
    public required ProcessUsage Usage { get; init; }

    /// <summary>Of the time inside the engine, the share inside the device's write calls at commits, if the engine tells.</summary>
    public double? DeviceShare { get; init; }

    /// <summary>Of the raw device's pace for writes as large as this engine's commits, measured just before the run.</summary>
    public double? ShareOfRawDevice { get; init; }

    /// <summary>The raw device just before the run.</summary>
    public IReadOnlyList<ProbeResult> RawDevice { get; init; } = [];

    /// <summary>Of the reader beside the writer.</summary>
    public double? ReaderOperationsPerSecond { get; init; }

    /// <summary>Beside reads by several threads: what memory itself does with them.</summary>
    public MemoryProbeResult? MemoryProbe { get; init; }

    /// <summary>Only commits that ended while the engine flushed.</summary>
    public LatencySummary? CommitLatencyBesideFlushes { get; init; }

    public long CommitsBesideFlushes { get; init; }

    /// <summary>The same writes without an engine, just after the run.</summary>
    public FlushingProbeResult? FlushingProbe { get; init; }

    /// <summary>Beside reads of large values: summing up values that lie in the process's own memory.</summary>
    public double? MemoryPassMegabytesPerSecond { get; init; }

    /// <summary>From a tenth of the run on.</summary>
    public double? ManagedBytesPerOperation { get; init; }

    /// <summary>Of engines that count the pages of a commit.</summary>
    public int? PageBytes { get; init; }

    /// <summary>Time was up before all operations were done: the checksum is of other items than those of other engines.</summary>
    public bool IsCut { get; init; }

    /// <summary>All of the process, from its start to its end.</summary>
    public double ProcessSeconds { get; init; }

    public string? Note { get; init; }

    public MemoryUse? Memory { get; init; }

    /// <summary>Bytes of key and value that an operation reads or writes.</summary>
    public long BytesPerOperation { get; init; }

    /// <summary>Null for reads.</summary>
    public LatencySummary? CommitLatency { get; init; }

    /// <summary>Null for reads.</summary>
    public LatencySummary? TransactionLatency { get; init; }

    /// <summary>By the engine's own count.</summary>
    public CommitSummary? Commits { get; init; }

    public FlushSummary? Flushes { get; init; }

    /// <summary>Written to the block device from the first transaction until the store was closed, by anybody.</summary>
    public long? DeviceBytesWritten { get; init; }

    public long? DeviceWrites { get; init; }

    /// <summary>On disk after transaction <see cref="EngineObserver.PublishedTransactions"/>, or the last before it.</summary>
    public long? AllocatedBytesAtPublishedPoint { get; init; }

    /// <summary>On disk before the store was opened.</summary>
    public long AllocatedBytesBefore { get; init; }

    /// <summary>Of the one file with the items, before the store was opened; 0 where there is no such file.</summary>
    public long DataFileBytesBefore { get; init; }

    /// <summary>The same after it was closed.</summary>
    public long? DataFileBytesClosed { get; init; }

    /// <summary>On disk after the last transaction, before closing.</summary>
    public required long AllocatedBytes { get; init; }

    public required long AllocatedBytesClosed { get; init; }

    /// <summary>Over what was read, or after writes over a scan of the whole store. Engines must agree.</summary>
    public required string Checksum { get; init; }

    public double OperationsPerSecond => Operations / EngineSeconds;

    public double MegabytesPerSecond => OperationsPerSecond * BytesPerOperation / 1e6;

    /// <summary>Journal written, as a share of the changed pages written whole.</summary>
    public double? JournalShareOfPages =>
        Commits is { } commits && PageBytes is { } bytes ? commits.JournalBytes.Total / (commits.PagesChanged.Total * bytes) : null;

    public double TransactionsPerSecond => Transactions / EngineSeconds;

    public double ManagedBytesPerTransaction => (double)Usage.AllocatedBytes / Transactions;
}
