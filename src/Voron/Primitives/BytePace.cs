using System.Diagnostics;

namespace Voron.Primitives;

/// <summary>Limits work to a number of bytes a second.</summary>
/// <param name="bytesPerSecond">The limit; 0 for none.</param>
internal sealed class BytePace(long bytesPerSecond)
{
    /// <summary>A pause is no longer than this, because a timer has a limit.</summary>
    private static readonly TimeSpan MaxPause = TimeSpan.FromDays(1);

    private readonly long _began = Stopwatch.GetTimestamp();
    private TimeSpan _paidUntil;

    /// <summary>Counts bytes, and waits because of them.</summary>
    public async Task PauseAsync(long bytes, CancellationToken stop)
    {
        var pause = Count(bytes);
        if (pause > TimeSpan.Zero)
            await Task.Delay(pause < MaxPause ? pause : MaxPause, stop).ConfigureAwait(false);
    }

    /// <summary>Counts bytes, and returns the time to wait because of them.</summary>
    public TimeSpan Count(long bytes)
    {
        if (bytesPerSecond == 0)
            return TimeSpan.Zero;

        // A time in which nothing was copied gives no credit.
        var now = Stopwatch.GetElapsedTime(_began);
        _paidUntil = (_paidUntil > now ? _paidUntil : now) + TimeSpan.FromSeconds((double)bytes / bytesPerSecond);
        return _paidUntil - now;
    }
}
