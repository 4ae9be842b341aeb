namespace Voron.Benchmarks.Workloads;

/// <summary>Collects transactions in slices of time since the store was about to be opened. Adding does not allocate.</summary>
internal sealed class FirstSecond
{
    /// <summary>The width of a slice.</summary>
    public const int SliceMilliseconds = 100;

    /// <summary>The slices that a report shows.</summary>
    public const int ReportedSlices = 10;

    /// <summary>The first slice of the part of the run that counts as steady, up to its end.</summary>
    private const int FirstSteadySlice = 20;

    private const int Slices = 30;

    private readonly long _opening;
    private readonly LatencyHistogram[] _commits = [.. Enumerable.Range(0, Slices).Select(_ => new LatencyHistogram())];
    private readonly long[] _operations = new long[Slices];
    private readonly long[] _nanoseconds = new long[Slices];
    private readonly bool _stops;
    private long _first;

    /// <param name="stops">True if the run is over after the last slice, false if it continues with transactions that are not counted.</param>
    public FirstSecond(long openingTimestamp, bool stops = true) => (_opening, _stops) = (openingTimestamp, stops);

    /// <summary>True after the last slice, if the run stops there.</summary>
    public bool IsOver { get; private set; }

    /// <summary>Adds a transaction to the slice in which it ended.</summary>
    public void Add(long beganTimestamp, long committingTimestamp, long endedTimestamp, int operations)
    {
        var nanoseconds = Clock.Nanoseconds(beganTimestamp, endedTimestamp);
        if (_first == 0)
            _first = nanoseconds;
        var slice = Clock.Nanoseconds(_opening, endedTimestamp) / (SliceMilliseconds * 1_000_000L);
        if (slice >= Slices)
        {
            IsOver = _stops;
            return;
        }

        _operations[slice] += operations;
        _nanoseconds[slice] += nanoseconds;
        _commits[slice].Record(Clock.Nanoseconds(committingTimestamp, endedTimestamp));
    }

    public FirstSecondResult Summarise(long openingNanoseconds) => new()
    {
        OpeningMilliseconds = openingNanoseconds / 1e6,
        FirstTransactionMilliseconds = _first / 1e6,
        OperationsPerSecond = Rate(0, ReportedSlices),
        SteadyOperationsPerSecond = Rate(FirstSteadySlice, Slices),
        Slices = [.. Enumerable.Range(0, ReportedSlices).Select(Slice)],
        Steady = Steady(),
    };

    private double? Rate(int first, int end) =>
        _nanoseconds[first..end].Sum() is var time && time == 0 ? null : _operations[first..end].Sum() * 1e9 / time;

    private TimeSliceResult Slice(int slice) => new(Rate(slice, slice + 1), _commits[slice].Count, _commits[slice].Summarise());

    private TimeSliceResult Steady()
    {
        var commits = new LatencyHistogram();
        for (var slice = FirstSteadySlice; slice < Slices; slice++)
            commits.Add(_commits[slice]);
        return new TimeSliceResult(Rate(FirstSteadySlice, Slices), commits.Count, commits.Summarise());
    }
}

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
    public double? EarlyShare => ((Slices[2].OperationsPerSecond ?? 0) + (Slices[3].OperationsPerSecond ?? 0)) / 2 / SteadyOperationsPerSecond;
}

/// <summary>The transactions that ended within a slice of time. Null where there were none.</summary>
internal sealed record TimeSliceResult(double? OperationsPerSecond, long Commits, LatencySummary? Latency);
