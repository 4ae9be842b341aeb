using Voron.Testing;

namespace Voron.Primitives;

/// <summary>
/// Decides when to retry a failed operation: soon at first, then less and less often. An operation that keeps failing costs little,
/// writes little, and does not fill the log.
/// </summary>
/// <remarks>For use by one thread at a time.</remarks>
internal sealed class RetryPause(TimeSpan first, TimeSpan longest)
{
    private static readonly TimeSpan ReportEvery = TimeSpan.FromMinutes(1);

    private TimeSpan _pause;
    private long _notBeforeTick;
    private long _reportAgainTick;

    /// <summary>True when it is time to retry.</summary>
    public bool IsOver => PlantedFault.RetryAtOnce || Environment.TickCount64 >= _notBeforeTick;

    /// <summary>Begins a pause, twice as long as the previous one.</summary>
    /// <returns>True when the failure should be logged: the first one, and then one a minute.</returns>
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

    /// <summary>Ends the pause: the operation has succeeded, or the cause of its failure has changed.</summary>
    public void Clear()
    {
        _pause = TimeSpan.Zero;
        _notBeforeTick = 0;
    }
}
