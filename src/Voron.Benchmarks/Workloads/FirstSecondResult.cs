using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Workloads;

/// <summary>What a process that had not warmed up did since it opened the store. Rates are over the time inside the engine's calls.</summary>
internal sealed record FirstSecondResult
{
    /// <summary>The duration of the call that opened the store.</summary>
    public required double OpeningMilliseconds { get; init; }

    /// <summary>The duration of the first transaction of the process, with its commit.</summary>
    public required double FirstTransactionMilliseconds { get; init; }

    /// <summary>The rate over the first second.</summary>
    public required double? OperationsPerSecond { get; init; }

    /// <summary>The rate over the third second.</summary>
    public required double? SteadyOperationsPerSecond { get; init; }

    /// <summary>The slices of the first second, in order.</summary>
    public required IReadOnlyList<TimeSliceResult> Slices { get; init; }

    /// <summary>The third second.</summary>
    public required TimeSliceResult Steady { get; init; }

    /// <summary>The rate from 200 to 400 ms, as a share of the steady rate. A slice in which no transaction ended has a rate of zero.</summary>
    public double? EarlyShare =>
        ((Slices[2].OperationsPerSecond ?? 0) + (Slices[3].OperationsPerSecond ?? 0)) / 2 / SteadyOperationsPerSecond;
}

/// <summary>The transactions that ended within a slice of time. Null where there were none.</summary>
internal sealed record TimeSliceResult(double? OperationsPerSecond, long Commits, LatencySummary? Latency);
