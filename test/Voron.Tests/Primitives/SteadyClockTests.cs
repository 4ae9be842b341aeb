using Voron.Primitives;

namespace Voron.Tests.Primitives;

/// <summary>One wrong reading of a clock is not believed, in either direction; a clock that stays is.</summary>
[Quick]
public sealed class SteadyClockTests
{
    private static readonly DateTimeOffset Start = new(2026, 5, 1, 12, 0, 0, TimeSpan.Zero);

    private readonly WallClock _wall = new() { Now = Start };

    [Theory]
    [InlineData(27_000)]
    [InlineData(-20_000)]
    [InlineData(1.001)]
    public void One_wrong_reading_changes_nothing(double days)
    {
        var clock = new SteadyClock(_wall);
        Read(clock).Should().Be(Start);
        _wall.Pass(TimeSpan.FromSeconds(30));
        _wall.Now += TimeSpan.FromDays(days);
        Read(clock).Should().Be(Start.AddSeconds(30));
        _wall.Now -= TimeSpan.FromDays(days);
        _wall.Pass(TimeSpan.FromSeconds(120));
        Read(clock).Should().Be(Start.AddSeconds(150));
        _wall.Now += TimeSpan.FromDays(days);
        Read(clock).Should().Be(Start.AddSeconds(150), "the first wrong reading does not speak for the second");
    }

    [Theory]
    [InlineData(27_000)]
    [InlineData(-20_000)]
    public void A_clock_that_stays_is_believed_after_a_minute(double days)
    {
        var clock = new SteadyClock(_wall);
        Read(clock).Should().Be(Start);
        _wall.Now += TimeSpan.FromDays(days);
        Read(clock).Should().Be(Start);
        _wall.Pass(TimeSpan.FromSeconds(59));
        Read(clock).Should().Be(Start.AddSeconds(59));
        _wall.Pass(TimeSpan.FromSeconds(1));
        Read(clock).Should().Be(_wall.Now);
        _wall.Pass(TimeSpan.FromSeconds(1));
        Read(clock).Should().Be(_wall.Now);
    }

    [Fact]
    public void Readings_that_disagree_with_each_other_are_never_believed()
    {
        var clock = new SteadyClock(_wall);
        Read(clock).Should().Be(Start);
        for (var i = 1; i < 10; i++)
        {
            _wall.Pass(TimeSpan.FromMinutes(2));
            _wall.Now = Start.AddDays(100 * i);
            Read(clock).Should().Be(Start.AddMinutes(2 * i));
        }
    }

    /// <summary>A machine that has slept, or whose clock is being adjusted.</summary>
    [Theory]
    [InlineData(0.999)]
    [InlineData(-0.999)]
    public void Less_than_a_day_is_believed_at_once(double days)
    {
        var clock = new SteadyClock(_wall);
        Read(clock).Should().Be(Start);
        _wall.Now += TimeSpan.FromDays(days);
        Read(clock).Should().Be(_wall.Now);
    }

    [Fact]
    public void What_deletes_by_age_begins_with_the_time_of_the_last_commit()
    {
        var clock = new SteadyClock(_wall, Start.AddYears(-1));
        Read(clock).Should().Be(Start.AddYears(-1));
        _wall.Pass(SteadyClock.Probation);
        Read(clock).Should().Be(_wall.Now);
        Read(new SteadyClock(_wall, _wall.Now.AddHours(-23))).Should().Be(_wall.Now);
    }

    [Fact]
    public void The_ends_of_time_are_times()
    {
        var clock = new SteadyClock(_wall, DateTimeOffset.MaxValue);
        _wall.Pass(TimeSpan.FromSeconds(1));
        Read(clock).Should().BeOnOrBefore(DateTimeOffset.MaxValue).And.BeAfter(Start);
    }

    private static DateTimeOffset Read(SteadyClock clock) => new(clock.Read(), TimeSpan.Zero);

    private sealed class WallClock : TimeProvider
    {
        private long _passed;

        public DateTimeOffset Now { get; set; }

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public void Pass(TimeSpan time)
        {
            Now += time;
            _passed += time.Ticks;
        }

        public override DateTimeOffset GetUtcNow() => Now;

        public override long GetTimestamp() => _passed;
    }
}
