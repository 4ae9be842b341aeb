namespace Voron.Primitives;

/// <summary>
/// A clock that tolerates a wrong reading. It compares each reading with the time elapsed since the last one. It believes a reading that is more than
/// a day off only after later readings have agreed with it for a minute, and extrapolates from the last believed one until then. Commit times never
/// decrease, and sweeps delete expired rows, so a wrong time would do lasting harm.
/// </summary>
/// <remarks>
/// The tolerance is a day, because a machine that was suspended or migrated has not counted that time. Used by one thread at a time.
/// </remarks>
internal sealed class SteadyClock
{
    /// <summary>A reading that is off by no more than this is believed immediately.</summary>
    public static readonly TimeSpan Tolerance = TimeSpan.FromDays(1);

    /// <summary>The time for which readings that are off by more must agree.</summary>
    public static readonly TimeSpan Probation = TimeSpan.FromMinutes(1);

    private readonly TimeProvider _clock;
    private Reading? _believed;
    private Reading? _doubted;

    /// <param name="clock">The clock.</param>
    /// <param name="last">A time that the clock showed a moment ago, such as that of the last commit; null to believe its first reading.</param>
    public SteadyClock(TimeProvider clock, DateTimeOffset? last = null)
    {
        _clock = clock;
        if (last is { } time)
            _believed = new Reading(time.UtcTicks, clock.GetTimestamp());
    }

    /// <summary>Reads the clock. Returns ticks since the year 1, as <see cref="DateTime"/> counts them.</summary>
    public long Read()
    {
        var now = new Reading(_clock.GetUtcNow().UtcTicks, _clock.GetTimestamp());
        if (_believed is not { } believed || Agrees(believed, now))
            return Believe(now);
        if (_doubted is not { } doubted || !Agrees(doubted, now))
        {
            _doubted = now;
            return Expected(believed, now);
        }

        return _clock.GetElapsedTime(doubted.Timestamp, now.Timestamp) < Probation ? Expected(believed, now) : Believe(now);
    }

    private long Believe(Reading now)
    {
        _believed = now;
        _doubted = null;
        return now.Ticks;
    }

    private bool Agrees(Reading before, Reading now) => Math.Abs(now.Ticks - Expected(before, now)) <= Tolerance.Ticks;

    private long Expected(Reading before, Reading now) =>
        Math.Clamp(before.Ticks + _clock.GetElapsedTime(before.Timestamp, now.Timestamp).Ticks, 0, DateTime.MaxValue.Ticks);

    private readonly record struct Reading(long Ticks, long Timestamp);
}
