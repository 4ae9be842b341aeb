using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Time.Testing;
using Voron.Extensions.Hosting;

namespace Voron.Extensions.Tests.Hosting;

/// <summary>Each threshold of the health check, on both sides.</summary>
[Quick]
public sealed class HealthAssessmentTests
{
    private static readonly DateTimeOffset Now = new(2026, 5, 1, 12, 0, 0, TimeSpan.Zero);
    private static readonly EnvironmentStatistics Fine = Statistics();

    public static TheoryData<string, EnvironmentStatistics, HealthStatus> Cases => new()
    {
        { "nothing is wrong", Fine, HealthStatus.Healthy },
        { "poisoned", Fine with { IsPoisoned = true }, HealthStatus.Unhealthy },
        { "poisoned, and the disk is full", Fine with { IsPoisoned = true, VolumeFreeBytes = 0 }, HealthStatus.Unhealthy },
        { "one byte too few", Fine with { VolumeFreeBytes = 999 }, HealthStatus.Degraded },
        { "just enough bytes", Fine with { VolumeFreeBytes = 1000 }, HealthStatus.Healthy },
        { "unknown free space", Fine with { VolumeFreeBytes = null }, HealthStatus.Healthy },
        { "old reader, full journal", Slow() with { LiveJournalBytes = 500 }, HealthStatus.Degraded },
        { "old reader, many versions", Slow() with { VersionBytes = 500 }, HealthStatus.Degraded },
        { "old reader, little held", Slow() with { LiveJournalBytes = 499, VersionBytes = 499 }, HealthStatus.Healthy },
        { "young reader", Slow() with { LiveJournalBytes = 500, OldestReaderAge = TimeSpan.FromSeconds(59) }, HealthStatus.Healthy },
        { "a commit is a minute ahead of the clock", Fine with { PublishedAt = Now.AddMinutes(1) }, HealthStatus.Healthy },
        { "a commit is further ahead of the clock", Fine with { PublishedAt = Now.AddSeconds(61) }, HealthStatus.Degraded },
        { "old reader of the newest state", Slow() with { LiveJournalBytes = 500, PublishedTransactionId = 3 }, HealthStatus.Healthy },
    };

    [Theory]
    [MemberData(nameof(Cases))]
    public void A_threshold_has_two_sides(string what, EnvironmentStatistics statistics, HealthStatus expected)
    {
        var result = Assess(statistics, Settings());
        result.Status.Should().Be(expected, what);
        result.Description.Should().Contain("'somewhere'");
        result.Data[nameof(EnvironmentStatistics.LiveJournalBytes)].Should().Be(statistics.LiveJournalBytes);
    }

    [Fact]
    public void All_reasons_are_named_and_the_worst_decides()
    {
        var result = Assess(Slow() with { IsPoisoned = true, VolumeFreeBytes = 1, LiveJournalBytes = 500 }, Settings(), isSlowed: true);
        result.Status.Should().Be(HealthStatus.Unhealthy);
        result.Description.Should().ContainAll("accepts no more writes", "Writers are slowed", "open for 00:01:00", "1 bytes left");
        Assess(Fine, Settings(), isSlowed: true).Status.Should().Be(HealthStatus.Degraded);
    }

    [Fact]
    public void Thresholds_can_be_switched_off()
    {
        var settings = Settings();
        settings.MinVolumeFreeBytes = 0;
        settings.SlowReaderAge = Timeout.InfiniteTimeSpan;
        Assess(Slow() with { VolumeFreeBytes = 0, LiveJournalBytes = 500 }, settings).Status.Should().Be(HealthStatus.Healthy);
    }

    [Fact]
    public void An_environment_for_reading_only_needs_no_space() =>
        Assess(Fine with { VolumeFreeBytes = 0 }, Settings(), options: new StorageOptions { ReadOnly = true }).Status
            .Should().Be(HealthStatus.Healthy);

    [Fact]
    public void Delays_between_two_checks_are_noticed_for_a_while()
    {
        var time = new FakeTimeProvider();
        var watch = new BackPressureWatch(time);
        var window = TimeSpan.FromSeconds(30);
        watch.IsActive(Fine with { BackPressureWaits = 7 }, window).Should().BeFalse("it is not known when these were");
        watch.IsActive(Fine with { BackPressureWaits = 7 }, window).Should().BeFalse();
        watch.IsActive(Fine with { BackPressureWaits = 8 }, window).Should().BeTrue();
        time.Advance(window);
        watch.IsActive(Fine with { BackPressureWaits = 8 }, window).Should().BeTrue("another endpoint asks too");
        watch.IsActive(Fine with { BackPressureWaits = 7 }, window).Should().BeTrue("an answer that is late changes nothing");
        time.Advance(TimeSpan.FromTicks(1));
        watch.IsActive(Fine with { BackPressureWaits = 8 }, window).Should().BeFalse();
        watch.IsActive(Fine with { BackPressureWaits = 9 }, TimeSpan.Zero).Should().BeFalse("only the moment counts");
        watch.IsActive(Fine with { IsBackPressureActive = true }, TimeSpan.Zero).Should().BeTrue();
    }

    private static HealthCheckResult Assess(
        EnvironmentStatistics statistics, VoronHealthCheckSettings settings, bool isSlowed = false, StorageOptions? options = null) =>
        new HealthAssessment("somewhere", options ?? new StorageOptions(), statistics, settings, Now).Assess(HealthStatus.Unhealthy, isSlowed, []);

    private static VoronHealthCheckSettings Settings() =>
        new() { MinVolumeFreeBytes = 1000, SlowReaderAge = TimeSpan.FromMinutes(1), SlowReaderBytes = 500 };

    private static EnvironmentStatistics Slow() => Fine with
    {
        PublishedTransactionId = 4,
        OldestReaderTransactionId = 3,
        OldestReaderAge = TimeSpan.FromMinutes(1),
    };

    private static EnvironmentStatistics Statistics()
    {
        using var environment = StorageEnvironment.OpenInMemory();
        return environment.GetStatistics() with { LiveJournalBytes = 0, VersionBytes = 0, PublishedAt = Now };
    }
}
