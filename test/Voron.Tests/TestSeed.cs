namespace Voron.Tests;

/// <summary>The seed of a randomised test: that of <c>VORON_SEED</c>, which repeats a failure, or another one each time.</summary>
internal static class TestSeed
{
    /// <summary>Returns the seed, and writes it to the output of the test.</summary>
    public static int Choose()
    {
        var seed = int.TryParse(Environment.GetEnvironmentVariable("VORON_SEED"), out var given) ? given : Environment.TickCount;
        TestContext.Current.TestOutputHelper?.WriteLine($"seed {seed}");
        return seed;
    }
}
