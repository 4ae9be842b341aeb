namespace Voron.Primitives;

/// <summary>
/// When to try again what has failed: soon at first, then less and less often. What keeps failing costs little, writes little, and
/// does not fill the log.
/// </summary>
/// <remarks>For one thread at a time.</remarks>
internal sealed class RetryPause(TimeSpan first, TimeSpan longest)
{
    private static readonly TimeSpan ReportEvery = TimeSpan.FromMinutes(1);

    private TimeSpan _pause;
    private long _notBeforeTick;
    private long _reportAgainTick;

    /// <summary>True when it is time to try.</summary>
    public bool IsOver => PlantedFault.RetryAtOnce || Environment.TickCount64 >= _notBeforeTick;

    /// <summary>Begins a pause, twice as long as the one before.</summary>
    /// <returns>True when the failure is worth a word in the log: the first one, and then one a minute.</returns>
    public bool Failed()
    {
        var now = Environment.TickCount64;
        var isFirst = _pause == TimeSpan.Zero;
        _pause = isFirst ? first : _pause * 2 < longest ? _pause * 2 : longest;
        _notBeforeTick = now + (long)_pause.TotalMilliseconds;
        if (!isFirst && now < _reportAgainTick)
            return false;
        _reportAgainTick = now + (long)ReportEvery.TotalMilliseconds;
        return true;
    }

    /// <summary>There is no need to wait: it has worked, or what kept it from working has changed.</summary>
    public void Clear()
    {
        _pause = TimeSpan.Zero;
        _notBeforeTick = 0;
    }
}
