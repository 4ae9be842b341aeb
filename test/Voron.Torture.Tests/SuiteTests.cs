using System.Globalization;
using Voron.Simulation.Harness;
using Voron.Torture.Suites;

namespace Voron.Torture.Tests;

/// <summary>
/// Runs every suite with a fixed seed and a share of its cases: <see cref="SuiteShare"/>. <c>VORON_SEED</c> makes the choices of another seed, and
/// <c>VORON_FIRST</c> begins with the run that failed.
/// </summary>
public sealed class SuiteTests(ITestOutputHelper output)
{
    private const long Seed = 1;

    public static TheoryData<string> Names => [.. SuiteCatalog.All.Select(suite => suite.Name)];

    [Theory]
    [MemberData(nameof(Names))]
    public void Nothing_is_found(string name)
    {
        var suite = SuiteCatalog.Find(name);
        Assert.SkipWhen(suite.UnfitHere != null, $"{name} {suite.UnfitHere}");
        Assert.SkipWhen(suite is GreatestValueSuite && !SuiteShare.IsFull, "A single case writes some GiB, and runs with all cases of the suites: VORON_SUITES=full");
        var plan = new RunPlan(SuiteShare.Of(suite.TestCount), Variable("VORON_SEED") ?? Seed)
        {
            // Each thread makes one run at least, and a run of some suites has more cases than the share.
            Threads = SuiteShare.IsFull ? 0 : 1,
            First = Variable("VORON_FIRST") ?? 0,
            ShrinkTime = TimeSpan.FromSeconds(20),
        };
        output.WriteLine($"seed {plan.Seed}");

        // Output to the test runner is lost with this process if the engine ends it.
        Console.Error.WriteLine($"{name}, seed {plan.Seed}");
        var result = suite.NeedsOwnProcess
            ? new SuiteProcess(suite, plan).Run(15 * TestWait.Limit).ResultOrDeath()
            : new SuiteRunner(suite, plan).Run();
        foreach (var (what, count) in result.Tallies)
            output.WriteLine($"{what}: {count:N0}");
        output.WriteLine($"{result.Cases:N0} {result.Unit} in {result.Runs:N0} runs, {result.Seconds:F0} s");
        if (result.Failures is [var failure, ..])
        {
            var script = failure.Script is { } choices ? $"\nscript [{string.Join(' ', choices.Take(500))}]" : "";
            Assert.Fail($"VORON_SEED={plan.Seed} VORON_FIRST={failure.Run}: {failure.Message}{script}\n{string.Join('\n', failure.Steps.TakeLast(60))}");
        }

        if (!result.IsComplete)
            result.Cases.Should().BeGreaterThanOrEqualTo(plan.Count);
    }

    private static long? Variable(string name) =>
        Environment.GetEnvironmentVariable(name) is { Length: > 0 } text ? long.Parse(text, CultureInfo.InvariantCulture) : null;
}
