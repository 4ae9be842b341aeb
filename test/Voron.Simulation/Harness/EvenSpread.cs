namespace Voron.Simulation.Harness;

/// <summary>
/// Visits numbers in an order in which any first few are spread evenly over all of them. Another seed begins at another number.
/// </summary>
internal static class EvenSpread
{
    /// <summary>Returns the number at a position of the order, which advances in steps of the golden ratio. Each number occurs once.</summary>
    /// <param name="place">The position, from 0, below the count.</param>
    /// <param name="seed">Decides the number at which the order begins.</param>
    /// <param name="count">The number of numbers.</param>
    public static long At(long place, long seed, long count)
    {
        var step = Math.Max(1, (long)(count * 0.6180339887498949));
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
