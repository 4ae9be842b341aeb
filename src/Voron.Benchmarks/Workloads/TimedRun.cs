namespace Voron.Benchmarks.Workloads;

/// <summary>Collects the figures of a workload's loops while they run.</summary>
internal sealed class TimedRun(ProgressSignal progress)
{
    /// <summary>Times from the beginning of a write transaction to the end of its commit.</summary>
    public LatencyHistogram Transactions { get; } = new();

    /// <summary>Times of the commit calls alone.</summary>
    public LatencyHistogram Commits { get; } = new();

    public ProgressSignal Progress { get; } = progress;

    /// <summary>Null if commits are not logged.</summary>
    public CommitLog? CommitLog { get; init; }

    /// <summary>The time after which a workload that can be cut short stops. Zero for no limit.</summary>
    public TimeSpan Limit { get; init; }

    /// <summary>Null if the process has warmed up.</summary>
    public FirstSecond? FirstSecond { get; init; }

    /// <summary>True if the workload stopped early.</summary>
    public bool IsCut { get; set; }

    public SteadyAllocation Allocation { get; } = new();

    /// <summary>Time inside the engine, without the preparation of keys and values.</summary>
    public long EngineNanoseconds { get; private set; }

    /// <summary>The number of operations done, or null if all requested operations were done.</summary>
    public long? OperationsDone { get; set; }

    /// <summary>The rate of the reader that runs beside the writer.</summary>
    public double? ReaderOperationsPerSecond { get; set; }

    /// <summary>A note for the tables about how this engine ran the workload.</summary>
    public string? Note { get; set; }

    public ulong Checksum { get; set; }

    /// <summary>The number of gets and deletes that found nothing. Any number but zero is an error of the engine.</summary>
    public long Misses { get; set; }

    /// <summary>Returns true if the time is up, and records that the run was cut short.</summary>
    public bool ShouldStop(long startedTimestamp)
    {
        if (FirstSecond is { } first)
            return IsCut = first.IsOver;
        if (Limit == TimeSpan.Zero || Stopwatch.GetElapsedTime(startedTimestamp) < Limit)
            return false;
        IsCut = true;
        return true;
    }

    public void AddEngineTime(long fromTimestamp, long toTimestamp) => EngineNanoseconds += Clock.Nanoseconds(fromTimestamp, toTimestamp);

    public void AddEngineTime(long nanoseconds) => EngineNanoseconds += nanoseconds;
}

/// <summary>
/// Counts the managed memory that all threads allocate after the first tenth of a run, which leaves out the one-time allocations of the
/// first operations. The loops report their progress between measured calls.
/// </summary>
internal sealed class SteadyAllocation
{
    private const int WarmShare = 10;

    private long _firstOperation = -1;
    private long _firstBytes;

    /// <summary>Null until the run has ended.</summary>
    public double? BytesPerOperation { get; private set; }

    /// <summary>Reports progress. All calls but one are cheap.</summary>
    public void Report(long done, long total)
    {
        if (_firstOperation >= 0 || done < total / WarmShare)
            return;
        _firstOperation = done;
        _firstBytes = GC.GetTotalAllocatedBytes(precise: true);
    }

    public void End(long done)
    {
        if (_firstOperation >= 0 && done > _firstOperation)
            BytesPerOperation = (double)(GC.GetTotalAllocatedBytes(precise: true) - _firstBytes) / (done - _firstOperation);
    }
}
