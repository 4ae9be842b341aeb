using Microsoft.Extensions.Time.Testing;
using Voron.Primitives;

namespace Voron.Tests.Primitives;

/// <summary>Pauses between attempts, and limits on bytes a second, on a clock of the test.</summary>
[Quick]
public sealed class PaceTests
{
    private readonly FakeTimeProvider _clock = new();

    [Fact]
    public void A_failed_operation_is_retried_less_and_less_often()
    {
        var retry = new RetryPause(TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(5), _clock);
        retry.IsOver.Should().BeTrue("nothing has failed");
        foreach (var seconds in (int[])[1, 2, 4, 5, 5])
        {
            retry.Failed();
            _clock.Advance(TimeSpan.FromSeconds(seconds) - TimeSpan.FromTicks(1));
            retry.IsOver.Should().BeFalse();
            _clock.Advance(TimeSpan.FromTicks(1));
            retry.IsOver.Should().BeTrue();
        }

        retry.Failed();
        retry.Clear();
        retry.IsOver.Should().BeTrue("it has succeeded");
        retry.Failed();
        _clock.Advance(TimeSpan.FromSeconds(1));
        retry.IsOver.Should().BeTrue("the next failure is a first one");
    }

    [Fact]
    public void A_failure_is_reported_at_first_and_then_once_a_minute()
    {
        var retry = new RetryPause(TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(1), _clock);
        retry.Failed().Should().BeTrue();
        _clock.Advance(TimeSpan.FromSeconds(59));
        retry.Failed().Should().BeFalse();
        _clock.Advance(TimeSpan.FromSeconds(1));
        retry.Failed().Should().BeTrue();
        retry.Failed().Should().BeFalse();
        retry.Clear();
        retry.Failed().Should().BeTrue("the one before has ended");
    }

    [Fact]
    public void A_rate_is_kept_without_credit_for_idle_times()
    {
        var pace = new BytePace(1_000, _clock);
        pace.Count(500).Should().Be(TimeSpan.FromSeconds(0.5));
        pace.Count(250).Should().Be(TimeSpan.FromSeconds(0.75));
        _clock.Advance(TimeSpan.FromSeconds(0.5));
        pace.Count(1_000).Should().Be(TimeSpan.FromSeconds(1.25));
        _clock.Advance(TimeSpan.FromHours(1));
        pace.Count(100).Should().Be(TimeSpan.FromSeconds(0.1));
        new BytePace(0, _clock).Count(long.MaxValue).Should().Be(TimeSpan.Zero);
    }

    [Fact]
    public async Task A_pause_lasts_for_what_the_bytes_take()
    {
        var pace = new BytePace(1_000, _clock);
        var pausing = pace.PauseAsync(2_000, TestContext.Current.CancellationToken);
        _clock.Advance(TimeSpan.FromSeconds(2) - TimeSpan.FromMilliseconds(1));
        pausing.IsCompleted.Should().BeFalse();
        _clock.Advance(TimeSpan.FromMilliseconds(1));
        await pausing.WaitAsync(TestWait.Limit, TestContext.Current.CancellationToken);
    }
}
