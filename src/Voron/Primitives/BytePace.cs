namespace Voron.Primitives;

/// <summary>Limits work to a number of bytes per second.</summary>
/// <param name="bytesPerSecond">The limit; 0 for none.</param>
/// <param name="clock">The clock; null for the system clock.</param>
internal sealed class BytePace(long bytesPerSecond, TimeProvider? clock = null)
{
    /// <summary>The longest pause, because a timer has a maximum delay.</summary>
    private static readonly TimeSpan MaxPause = TimeSpan.FromDays(1);

    private readonly TimeProvider _clock = clock ?? TimeProvider.System;
    private readonly long _began = (clock ?? TimeProvider.System).GetTimestamp();
    private TimeSpan _paidUntil;

    /// <summary>Counts bytes, and waits for the time that they require.</summary>
    public async Task PauseAsync(long bytes, CancellationToken stop)
    {
        var pause = Count(bytes);
        if (pause > TimeSpan.Zero)
            await Task.Delay(pause < MaxPause ? pause : MaxPause, _clock, stop).ConfigureAwait(false);
    }

    /// <summary>Counts bytes, and returns the time to wait for them.</summary>
    public TimeSpan Count(long bytes)
    {
        if (bytesPerSecond == 0)
            return TimeSpan.Zero;

        // Idle time gives no credit.
        var now = _clock.GetElapsedTime(_began);
        _paidUntil = (_paidUntil > now ? _paidUntil : now) + TimeSpan.FromSeconds((double)bytes / bytesPerSecond);
        return _paidUntil - now;
    }
}
