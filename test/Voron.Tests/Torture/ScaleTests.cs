using Voron.Torture.Scale;

namespace Voron.Tests.Torture;

public sealed class ScaleTests(ITestOutputHelper output)
{
    /// <summary>The same as the command "scale" for a hundred gigabytes, with a store of two.</summary>
    [Fact]
    public void What_a_large_store_costs_stays_within_its_limits()
    {
        using var run = new ScaleRun(2L << 30, trees: 5_000);
        var results = run.Run(result => output.WriteLine(result.ToString())).ToDictionary(result => result.Operation);
        run.Pages.Should().BeGreaterThan(500_000);

        // Two bits a page, a bit for each tree id of a window, and what a name or two takes for each tree.
        var verification = run.Pages / 4 + (1 << 20) + 5_000 * 600;
        results["verify"].Allocated.Should().BeLessThan(verification);
        results["verify once more"].Allocated.Should().BeLessThan(verification);
        foreach (var result in results.Values.Where(result => result.LongestStall != null))
            result.LongestStall.Should().BeLessThan(TimeSpan.FromSeconds(20), $"{result.Operation} holds no writer for its own length");
    }
}
