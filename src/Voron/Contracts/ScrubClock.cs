namespace Voron;

/// <summary>The clock of the scrubber. Tests supply one of their own.</summary>
internal class ScrubClock
{
    /// <summary>The time since an arbitrary fixed moment.</summary>
    public virtual TimeSpan Now => TimeSpan.FromMilliseconds(Environment.TickCount64);

    /// <summary>Waits. Returns true if the wait was cancelled before the time had elapsed.</summary>
    public virtual bool Wait(TimeSpan time, CancellationToken stop)
    {
        // A wait handle cannot wait for longer than about 24 days.
        while (time > LongestWait)
        {
            if (stop.WaitHandle.WaitOne(LongestWait))
                return true;
            time -= LongestWait;
        }

        return stop.WaitHandle.WaitOne(time);
    }

    private static readonly TimeSpan LongestWait = TimeSpan.FromDays(20);
}
