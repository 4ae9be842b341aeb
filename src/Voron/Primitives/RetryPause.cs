using Voron.Testing;

namespace Voron.Primitives;

/// <summary>
/// Decides when to retry a failed operation: soon at first, then less and less often. An operation that keeps failing therefore costs little, writes
/// little, and does not fill the log.
/// </summary>
/// <remarks>For use by one thread at a time.</remarks>
/// <param name="first">The first pause.</param>
/// <param name="longest">The longest pause.</param>
/// <param name="clock">The clock; null for the system clock.</param>
internal sealed class RetryPause(TimeSpan first, TimeSpan longest, TimeProvider? clock = null)
{
    private static readonly TimeSpan ReportEvery = TimeSpan.FromMinutes(1);

    private readonly TimeProvider _clock = clock ?? TimeProvider.System;
    private TimeSpan _pause;
    private long _failedAt;
    private long _reportedAt;

    /// <summary>True when it is time to retry.</summary>
    public bool IsOver => PlantedFault.RetryAtOnce || _clock.GetElapsedTime(_failedAt) >= _pause;

    /// <summary>Begins a pause, twice as long as the previous one.</summary>
    /// <returns>True when the failure should be logged: the first one, and then one per minute.</returns>
    public bool Failed()
    {
        _failedAt = _clock.GetTimestamp();
        var isFirst = _pause == TimeSpan.Zero;
        _pause = isFirst ? first : _pause * 2 < longest ? _pause * 2 : longest;
        if (!isFirst && _clock.GetElapsedTime(_reportedAt, _failedAt) < ReportEvery)
            return false;
        _reportedAt = _failedAt;
        return true;
    }

    /// <summary>Ends the pause: the operation has succeeded, or the cause of its failure has changed.</summary>
    public void Clear() => _pause = TimeSpan.Zero;
}
