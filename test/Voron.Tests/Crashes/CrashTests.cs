using System.Diagnostics;

namespace Voron.Tests.Crashes;

/// <summary>
/// Cuts the power and kills the process at every point of random workloads, again while recovering, and again after that:
/// what was acknowledged is there, and what was not is there as a whole or not at all.
/// </summary>
public sealed class CrashTests
{
    private const int Images = 20_000;
    private const int ImagesWithGarbage = 1_000;

    [Fact]
    public void Whatever_the_moment_of_a_crash_acknowledged_commits_survive_and_others_are_whole_or_gone()
    {
        var seed = CrashHunt.Seed;
        var output = TestContext.Current.TestOutputHelper;
        output?.WriteLine($"VORON_SEED={seed}");
        var watch = Stopwatch.StartNew();
        var counts = CrashHunt.Run(seed, Images, threads: 2);
        output?.WriteLine($"{counts}; {watch.Elapsed.TotalSeconds:F0} s");
        counts.Images.Should().BeGreaterThanOrEqualTo(Images);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Garbage_where_a_flush_was_writing_is_repaired_from_images_and_refused_without(bool images)
    {
        var seed = CrashHunt.Seed;
        var output = TestContext.Current.TestOutputHelper;
        output?.WriteLine($"VORON_SEED={seed}");
        var watch = Stopwatch.StartNew();
        var disk = images ? CrashDisk.GarbageWithImages : CrashDisk.GarbageWithChecksums;
        var counts = CrashHunt.Run(seed, ImagesWithGarbage, threads: 2, disk);
        output?.WriteLine($"{counts}; {watch.Elapsed.TotalSeconds:F0} s");
        counts.WithGarbage.Should().BeGreaterThanOrEqualTo(ImagesWithGarbage);
        if (images)
            counts.Refused.Should().Be(0);
        else
            counts.Refused.Should().BeGreaterThan(ImagesWithGarbage / 20);
    }
}
