using System.Diagnostics;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Processes;

namespace Voron.Benchmarks.Workloads;

/// <summary>What the loops of a workload collect while they run.</summary>
internal sealed class TimedRun(ProgressSignal progress)
{
    /// <summary>From beginning a write transaction until it is committed.</summary>
    public LatencyHistogram Transactions { get; } = new();

    /// <summary>The call that commits, alone.</summary>
    public LatencyHistogram Commits { get; } = new();

    public ProgressSignal Progress { get; } = progress;

    /// <summary>Null where nobody asks for it.</summary>
    public CommitLog? CommitLog { get; init; }

    /// <summary>Time after which a workload that can do so stops early; zero for never.</summary>
    public TimeSpan Limit { get; init; }

    /// <summary>True when it did.</summary>
    public bool IsCut { get; set; }

    public SteadyAllocation Allocation { get; } = new();

    /// <summary>Time inside the engine: what the loops do to prepare keys and values is not in it.</summary>
    public long EngineNanoseconds { get; private set; }

    /// <summary>Set by workloads that run for a time; otherwise what was asked for.</summary>
    public long? OperationsDone { get; set; }

    /// <summary>Of the reader beside the writer.</summary>
    public double? ReaderOperationsPerSecond { get; set; }

    /// <summary>What a reader of the tables has to know of this engine's way through the workload.</summary>
    public string? Note { get; set; }

    public ulong Checksum { get; set; }

    /// <summary>Gets that found nothing. Any number but zero is an error of the engine.</summary>
    public long Misses { get; set; }

    /// <summary>Whether time is up. Notes that it is, for the tables.</summary>
    public bool ShouldStop(long startedTimestamp)
    {
        if (Limit == TimeSpan.Zero || Stopwatch.GetElapsedTime(startedTimestamp) < Limit)
            return false;
        IsCut = true;
        return true;
    }

    public void AddEngineTime(long fromTimestamp, long toTimestamp) => EngineNanoseconds += Clock.Nanoseconds(fromTimestamp, toTimestamp);

    public void AddEngineTime(long nanoseconds) => EngineNanoseconds += nanoseconds;
}
