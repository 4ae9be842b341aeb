namespace Voron.Torture.Harness;

/// <summary>Goes over numbers so that however few are met are spread evenly over all, beginning elsewhere with another seed.</summary>
internal static class EvenSpread
{
    /// <summary>The number that comes in a place; each comes once. In steps of the golden ratio.</summary>
    /// <param name="place">From 0, below the count.</param>
    /// <param name="seed">Decides where it begins.</param>
    /// <param name="count">How many numbers there are.</param>
    public static long At(long place, long seed, long count)
    {
        long step = Math.Max(1, (long)(count * 0.6180339887498949));
        while (GreatestCommonDivisor(step, count) != 1)
            step++;
        return (long)((((Int128)place * step) + (Int128)((ulong)seed % (ulong)count)) % count);
    }

    private static long GreatestCommonDivisor(long a, long b)
    {
        while (b != 0)
            (a, b) = (b, a % b);
        return a;
    }
}
