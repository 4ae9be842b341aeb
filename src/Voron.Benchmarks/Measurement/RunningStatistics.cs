namespace Voron.Benchmarks.Measurement;

/// <summary>Count, total, mean, maximum and standard deviation of a stream of numbers, without storing it.</summary>
internal sealed class RunningStatistics
{
    private long _count;
    private double _total;
    private double _mean;
    private double _squaredDistances;
    private double _max = double.MinValue;

    public long Count => _count;

    /// <summary>Uses Welford's update, because a sum of squares of large numbers would lose the digits of a small deviation.</summary>
    public void Add(double value)
    {
        _count++;
        _total += value;
        var distance = value - _mean;
        _mean += distance / _count;
        _squaredDistances += distance * (value - _mean);
        _max = Math.Max(_max, value);
    }

    public NumberSummary? Summarise() => _count == 0
        ? null
        : new NumberSummary(_count, _mean, _max, _total, Math.Sqrt(_squaredDistances / _count));
}

internal sealed record NumberSummary(long Count, double Average, double Max, double Total, double StandardDeviation);
