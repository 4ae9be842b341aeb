using Voron.Benchmarks.Engines.Counters;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Tests;

/// <summary>What the command <c>building-blocks</c> compares must be the same work.</summary>
public sealed class BuildingBlockTests
{
    [Fact]
    public void All_ways_count_the_same_words()
    {
        using var directory = new TestDirectory();
        var words = new WordStream();
        var drawn = words.Draw(5_000, seed: 3);
        var runs = CounterCatalog.All.Where(way => way.IsInstalled())
            .Select(way => CounterRun.Measure(way, Path.Combine(directory.Path, "counters"), words.Each()[..2_000], drawn, perCommit: 1_000))
            .ToList();
        runs.Select(run => run.Checksum).Distinct().Should().ContainSingle();
        runs.Should().OnlyContain(run => run.Nanoseconds > 0 && run.ScanMilliseconds > 0);
        runs.Where(run => run.Way == CounterCatalog.Increment).Should().OnlyContain(run => run.RecordBytes > 0);
    }

    [Fact]
    public void Words_are_as_frequent_as_in_natural_text()
    {
        var words = new WordStream();
        var counts = words.Draw(100_000, seed: 1).GroupBy(word => word).Select(group => group.Count()).OrderDescending().ToList();
        counts[0].Should().BeInRange(7_800, 8_800);
        (counts[0] / (double)counts[9]).Should().BeInRange(8, 12);
        counts.Should().HaveCountGreaterThan(10_000);
        words.Each().Should().OnlyHaveUniqueItems(word => Convert.ToHexString(word)).And.HaveCount(WordStream.Vocabulary);
    }
}
