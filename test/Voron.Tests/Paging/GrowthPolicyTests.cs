using Voron.Paging;

namespace Voron.Tests.Paging;

/// <summary>The steps in which a data file grows.</summary>
[Quick]
public sealed class GrowthPolicyTests
{
    private const long KiB = 1 << 10;
    private const long MiB = 1 << 20;

    [Theory]
    [InlineData(4096)]
    [InlineData(16384)]
    public void Small_files_grow_fast_and_large_ones_by_an_eighth(int pageSize)
    {
        var sizes = new List<long>();
        for (var bytes = (long)GrowthPolicy.InitialBytes; bytes < 100 * MiB;)
        {
            bytes += GrowthPolicy.NextStep(bytes / pageSize, pageSize, 64 * MiB) * pageSize;
            sizes.Add(bytes);
        }

        sizes[..9].Should().Equal(256 * KiB, MiB, 2 * MiB, 4 * MiB, 8 * MiB, 12 * MiB, 16 * MiB, 20 * MiB, 24 * MiB);
        sizes.Should().HaveCountLessThan(24, "a step is a sync");
        GrowthPolicy.NextStep(1024 * MiB / pageSize, pageSize, 64 * MiB).Should().Be(64 * MiB / pageSize);
        GrowthPolicy.NextStep(256 * MiB / pageSize, pageSize, 64 * MiB).Should().Be(32 * MiB / pageSize);
        GrowthPolicy.NextStep(256 * MiB / pageSize, pageSize, MiB).Should().Be(MiB / pageSize, "the limit is configured");
    }

    [Theory]
    [InlineData(4096)]
    [InlineData(8192)]
    [InlineData(65536)]
    public void A_step_is_never_empty(int pageSize)
    {
        for (var pages = 1L; pages < 5_000; pages++)
        {
            var step = GrowthPolicy.NextStep(pages, pageSize, MiB);
            step.Should().BePositive();
            GrowthPolicy.PagesAhead(pages, step).Should().BeLessThan(step);
            var kept = GrowthPolicy.KeptWhenClosed(pages, pageSize);
            kept.Should().BeInRange(pages, pages + GrowthPolicy.InitialBytes / pageSize - 1);
            (kept * pageSize % GrowthPolicy.InitialBytes).Should().Be(0);
        }
    }
}
