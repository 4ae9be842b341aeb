using System.Globalization;

namespace Voron.Tests;

/// <summary>
/// The seed of a randomised test: that of <c>VORON_SEED</c>, or one that follows from the name of the test, so that every run makes the same
/// choices. A search for new failures sets the variable.
/// </summary>
internal static class TestSeed
{
    /// <summary>Returns the seed, and writes it to the output of the test.</summary>
    public static int Choose()
    {
        var seed = Given() is { } given ? (int)given : OfName();
        TestContext.Current.TestOutputHelper?.WriteLine($"seed {seed}");
        return seed;
    }

    // The suites take any 64 bits as a seed, and so does this.
    private static long? Given() => Environment.GetEnvironmentVariable("VORON_SEED") is { Length: > 0 } text
        ? long.Parse(text, CultureInfo.InvariantCulture) is var seed && seed == (int)seed ? seed : seed.GetHashCode()
        : null;

    // FNV-1a over class and method. A string's own hash code differs from one process to the next.
    private static int OfName()
    {
        var test = TestContext.Current.TestCase;
        var hash = 2166136261;
        foreach (var letter in $"{test?.TestClassSimpleName}.{test?.TestMethodName}")
            hash = unchecked((hash ^ letter) * 16777619);
        return (int)(hash % 1_000_000);
    }
}
