using Voron.Flushing;

namespace Voron.Tests.Flushing;

/// <summary>How many bytes of journal a flush waits for.</summary>
[Quick]
public sealed class FlushPolicyTests
{
    private const long MiB = 1 << 20;

    [Theory]
    [InlineData(0, 0, 64)]
    [InlineData(1_000_000, 0, 64)]
    [InlineData(1000, 1000, 64)]
    [InlineData(2999, 1000, 64)]
    [InlineData(3000, 1000, 96)]
    [InlineData(1_000_000, 1000, 96)]
    public void Waits_longer_where_pages_change_again(long changes, long pages, long expectedMiB) =>
        new FlushPolicy(new StorageOptions(), isVolatile: false).Threshold(new UnflushedChanges(changes, pages, 0)).Should().Be(expectedMiB * MiB);

    [Fact]
    public void A_threshold_that_is_set_is_taken_as_it_is()
    {
        var policy = new FlushPolicy(new StorageOptions { FlushThresholdBytes = 10 * MiB }, isVolatile: false);
        policy.Threshold(new UnflushedChanges(1, 1000, 0)).Should().Be(10 * MiB);
        policy.Threshold(new UnflushedChanges(1_000_000, 1000, 0)).Should().Be(10 * MiB);
        policy.Reaches(5 * MiB - 1, 5 * MiB).Should().BeFalse();
        policy.Reaches(10 * MiB - 1, 10 * MiB).Should().BeTrue();
    }

    [Fact]
    public void A_copy_of_options_knows_whether_the_threshold_was_set()
    {
        var set = new StorageOptions(new StorageOptions { FlushThresholdBytes = 10 * MiB });
        set.FlushesByCost.Should().BeFalse();
        new StorageOptions(new StorageOptions()).FlushesByCost.Should().BeTrue();
        var copy = new StorageOptions(new StorageOptions());
        copy.FlushThresholdBytes = 10 * MiB;
        copy.FlushesByCost.Should().BeFalse("the copied options had not set it");
    }

    [Fact]
    public void Assigning_the_default_to_itself_sets_nothing()
    {
        var options = new StorageOptions();
        options.FlushThresholdBytes = options.FlushThresholdBytes;
        options.FlushesByCost.Should().BeTrue();
        options.FlushThresholdBytes = MiB;
        options.FlushThresholdBytes = 64 * MiB;
        options.FlushesByCost.Should().BeFalse();
    }

    [Fact]
    public void Waits_no_longer_once_versions_are_spilled()
    {
        var options = new StorageOptions { ScratchMemoryBytes = 100 * MiB };
        var policy = new FlushPolicy(options, isVolatile: false);
        policy.Threshold(new UnflushedChanges(1_000_000, 1000, 100 * MiB - 1)).Should().Be(96 * MiB);
        policy.Threshold(new UnflushedChanges(1_000_000, 1000, 100 * MiB)).Should().Be(64 * MiB);
    }

    [Fact]
    public void Never_exceeds_half_the_journal_limit()
    {
        var policy = new FlushPolicy(new StorageOptions { JournalLimitBytes = 100 * MiB }, isVolatile: false);
        policy.Least.Should().Be(50 * MiB);
        policy.Most.Should().Be(50 * MiB);
        policy.Threshold(new UnflushedChanges(1_000_000, 1000, 0)).Should().Be(50 * MiB);
        new FlushPolicy(new StorageOptions { FlushThresholdBytes = 80 * MiB, JournalLimitBytes = 100 * MiB }, isVolatile: false)
            .Threshold(default).Should().Be(50 * MiB);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(long.MaxValue)]
    public void Extreme_thresholds_do_not_overflow(long threshold)
    {
        var options = new StorageOptions { FlushThresholdBytes = threshold, JournalLimitBytes = long.MaxValue, FlushesByCost = true };
        var policy = new FlushPolicy(options, isVolatile: false);
        policy.Least.Should().BePositive();
        policy.Most.Should().BeGreaterThanOrEqualTo(policy.Least);
    }

    [Fact]
    public void An_environment_in_memory_has_one_threshold()
    {
        var policy = new FlushPolicy(new StorageOptions(), isVolatile: true);
        policy.Least.Should().Be(64 * MiB);
        policy.Most.Should().Be(64 * MiB);
    }
}
