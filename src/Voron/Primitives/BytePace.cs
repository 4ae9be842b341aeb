namespace Voron.Primitives;

/// <summary>Limits work to a number of bytes a second.</summary>
/// <param name="bytesPerSecond">The limit; 0 for none.</param>
/// <param name="clock">The clock; null for that of the system.</param>
internal sealed class BytePace(long bytesPerSecond, TimeProvider? clock = null)
{
    /// <summary>A pause is no longer than this, because a timer has a limit.</summary>
    private static readonly TimeSpan MaxPause = TimeSpan.FromDays(1);

    private readonly TimeProvider _clock = clock ?? TimeProvider.System;
    private readonly long _began = (clock ?? TimeProvider.System).GetTimestamp();
    private TimeSpan _paidUntil;

    /// <summary>Counts bytes, and waits because of them.</summary>
    public async Task PauseAsync(long bytes, CancellationToken stop)
    {
        var pause = Count(bytes);
        if (pause > TimeSpan.Zero)
            await Task.Delay(pause < MaxPause ? pause : MaxPause, _clock, stop).ConfigureAwait(false);
    }

    /// <summary>Counts bytes, and returns the time to wait because of them.</summary>
    public TimeSpan Count(long bytes)
    {
        if (bytesPerSecond == 0)
            return TimeSpan.Zero;

        // A time in which nothing was copied gives no credit.
        var now = _clock.GetElapsedTime(_began);
        _paidUntil = (_paidUntil > now ? _paidUntil : now) + TimeSpan.FromSeconds((double)bytes / bytesPerSecond);
        return _paidUntil - now;
    }
}
