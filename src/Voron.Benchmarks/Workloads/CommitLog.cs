namespace Voron.Benchmarks.Workloads;

/// <summary>Records when each commit of a run ended and how long it took, so that commits during a flush can be found later.</summary>
internal sealed class CommitLog(long capacity)
{
    private const long MaxCommits = 1 << 20;

    private readonly long[] _endTimestamps = new long[Math.Min(capacity, MaxCommits)];
    private readonly long[] _nanoseconds = new long[Math.Min(capacity, MaxCommits)];
    private int _count;

    public void Add(long endTimestamp, long nanoseconds)
    {
        if (_count == _endTimestamps.Length)
            return;
        _endTimestamps[_count] = endTimestamp;
        _nanoseconds[_count++] = nanoseconds;
    }

    /// <summary>Returns the latencies of the commits that ended during a flush, or null if there are none.</summary>
    /// <param name="flushes">In the order of their ends. Flushes do not overlap.</param>
    public LatencySummary? During(IReadOnlyList<FlushInterval> flushes, out long commits)
    {
        var histogram = new LatencyHistogram();
        var flush = 0;
        for (var i = 0; i < _count; i++)
        {
            while (flush < flushes.Count && flushes[flush].EndTimestamp < _endTimestamps[i])
                flush++;
            if (flush == flushes.Count)
                break;
            if (_endTimestamps[i] >= flushes[flush].StartTimestamp)
                histogram.Record(_nanoseconds[i]);
        }
        commits = histogram.Count;
        return histogram.Summarise();
    }
}
