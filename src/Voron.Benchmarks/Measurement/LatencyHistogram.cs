using System.Numerics;

namespace Voron.Benchmarks.Measurement;

/// <summary>
/// Counts durations in buckets whose width is at most 1/64 of their value. Recording touches one counter and allocates nothing, so it
/// can run next to a measured call.
/// </summary>
internal sealed class LatencyHistogram
{
    private const int SubBucketBits = 6;
    private const int SubBuckets = 1 << SubBucketBits;

    private readonly long[] _counts = new long[(64 - SubBucketBits + 1) * SubBuckets];
    private long _total;
    private long _totalNanoseconds;
    private long _maxNanoseconds;

    public long Count => _total;

    public void Record(long nanoseconds)
    {
        nanoseconds = Math.Max(0, nanoseconds);
        _counts[BucketOf((ulong)nanoseconds)]++;
        _total++;
        _totalNanoseconds += nanoseconds;
        _maxNanoseconds = Math.Max(_maxNanoseconds, nanoseconds);
    }

    /// <summary>Adds the durations that another thread has recorded, after that thread has finished.</summary>
    public void Add(LatencyHistogram other)
    {
        for (var bucket = 0; bucket < _counts.Length; bucket++)
            _counts[bucket] += other._counts[bucket];
        _total += other._total;
        _totalNanoseconds += other._totalNanoseconds;
        _maxNanoseconds = Math.Max(_maxNanoseconds, other._maxNanoseconds);
    }

    public LatencySummary? Summarise() => _total == 0
        ? null
        : new LatencySummary(
            (double)_totalNanoseconds / _total / 1e3,
            PercentileMicroseconds(0.50),
            PercentileMicroseconds(0.99),
            PercentileMicroseconds(0.999),
            _maxNanoseconds / 1e3);

    private double PercentileMicroseconds(double fraction)
    {
        var rank = (long)Math.Ceiling(_total * fraction);
        long seen = 0;
        for (var bucket = 0; bucket < _counts.Length; bucket++)
        {
            seen += _counts[bucket];
            if (seen >= rank)
                return Math.Min(UpperBoundOf(bucket), _maxNanoseconds) / 1e3;
        }
        return _maxNanoseconds / 1e3;
    }

    /// <summary>Each value below 64 has its own bucket. For larger ones, the top seven bits select the bucket.</summary>
    private static int BucketOf(ulong value)
    {
        if (value < SubBuckets)
            return (int)value;
        var shift = BitOperations.Log2(value) - SubBucketBits;
        return ((shift + 1) * SubBuckets) + (int)((value >> shift) - SubBuckets);
    }

    private static long UpperBoundOf(int bucket)
    {
        if (bucket < SubBuckets)
            return bucket;
        var shift = (bucket / SubBuckets) - 1;
        return ((long)((bucket % SubBuckets) + SubBuckets + 1) << shift) - 1;
    }
}

/// <summary>The mean and percentiles of one kind of call, in microseconds.</summary>
internal sealed record LatencySummary(
    double MeanMicroseconds, double P50Microseconds, double P99Microseconds, double P999Microseconds, double MaxMicroseconds);

/// <summary>Converts timestamp differences to nanoseconds. A <see cref="TimeSpan"/> would round them down to multiples of 100.</summary>
internal static class Clock
{
    private static readonly double NanosecondsPerTick = 1e9 / Stopwatch.Frequency;

    public static long Nanoseconds(long fromTimestamp, long toTimestamp) => (long)((toTimestamp - fromTimestamp) * NanosecondsPerTick);
}
