using System.Diagnostics;

namespace Tour.Measuring;

/// <summary>A time for which a contender works. Any number of its threads ask whether it is over.</summary>
internal sealed class TimeSlice
{
    private static readonly long ReportInterval = Stopwatch.Frequency / 20;

    private readonly Action<double> _progress;
    private readonly CancellationToken _stop;
    private readonly long _length;
    private readonly long _start;
    private long _report;

    /// <param name="length">How long it lasts.</param>
    /// <param name="progress">Receives the share that has passed, now and then.</param>
    /// <param name="stop">Ends it with an exception.</param>
    public TimeSlice(TimeSpan length, Action<double> progress, CancellationToken stop)
    {
        _progress = progress;
        _stop = stop;
        _length = (long)(length.TotalSeconds * Stopwatch.Frequency);
        _start = Stopwatch.GetTimestamp();
        _report = _start + ReportInterval;
    }

    /// <summary>Whether the work ends now.</summary>
    public bool IsOver
    {
        get
        {
            _stop.ThrowIfCancellationRequested();
            var now = Stopwatch.GetTimestamp();
            var report = Volatile.Read(ref _report);
            if (now >= report && Interlocked.CompareExchange(ref _report, now + ReportInterval, report) == report)
                _progress(Math.Min(1, (double)(now - _start) / _length));
            return now - _start >= _length;
        }
    }

    /// <summary>The time since its start.</summary>
    public TimeSpan Elapsed => Stopwatch.GetElapsedTime(_start);
}
