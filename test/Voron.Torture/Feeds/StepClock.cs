namespace Voron.Torture.Feeds;

/// <summary>A clock that continues only when it is moved.</summary>
internal sealed class StepClock : TimeProvider
{
    private DateTimeOffset _now = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    public long Ticks => _now.UtcTicks;

    /// <summary>The time in milliseconds since 1970.</summary>
    public long Milliseconds => _now.ToUnixTimeMilliseconds();

    public override DateTimeOffset GetUtcNow() => _now;

    public override long GetTimestamp() => _now.UtcTicks;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public void Advance(TimeSpan time) => _now += time;
}
