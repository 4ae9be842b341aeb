using Voron.Torture.Scale;

namespace Voron.Tests.Torture;

/// <summary>Alone in the process: its memory is measured.</summary>
[Collection(nameof(ScaleTests))]
[CollectionDefinition(nameof(ScaleTests), DisableParallelization = true)]
public sealed class ScaleTests(ITestOutputHelper output)
{
    /// <summary>The same as the command "scale" for a hundred gigabytes, with smaller stores; the suite "scale" has others, on a slow device.</summary>
    [Theory]
    [InlineData(4096, 100)]
    [InlineData(256, 20_000)]
    public void What_a_large_store_costs_stays_within_its_limits(int megabytes, int trees)
    {
        using var run = new ScaleRun((long)megabytes << 20, trees);
        var results = run.Run(result => output.WriteLine(result.ToRow()));
        run.Pages.Should().BeGreaterThan(megabytes * 256L);
        results.Should().Contain(result => result.LongestStall != null);
        foreach (var result in results)
            ScaleLimits.Check(result, run.Pages, trees);
    }
}
