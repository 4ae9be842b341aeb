namespace Voron.Extensions.Hosting;

/// <summary>Notices writers that were slowed between two health checks.</summary>
/// <param name="time">The clock.</param>
internal sealed class BackPressureWatch(TimeProvider time)
{
    private readonly Lock _gate = new();
    private long? _waits;
    private long? _noticedAt;

    /// <summary>
    /// Returns true if writers are being slowed, or if a call within the window has noticed that they were. The first call does not know when
    /// the waits happened that it finds, and does not count them.
    /// </summary>
    public bool IsActive(EnvironmentStatistics statistics, TimeSpan window)
    {
        lock (_gate)
        {
            if (statistics.IsBackPressureActive || statistics.BackPressureWaits > _waits)
                _noticedAt = time.GetTimestamp();

            // The statistics of two checks at the same time may arrive here in the other order.
            _waits = Math.Max(statistics.BackPressureWaits, _waits ?? 0);
            return statistics.IsBackPressureActive
                || (_noticedAt is { } noticed && window > TimeSpan.Zero && time.GetElapsedTime(noticed) <= window);
        }
    }
}
