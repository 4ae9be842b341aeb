namespace Voron.Simulation.Harness;

/// <summary>Generates random numbers from a 64-bit seed; each seed has its own sequence.</summary>
/// <remarks>
/// Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014. <see cref="Random"/> uses 31 bits of a seed, so
/// among millions of runs some would repeat earlier ones.
/// </remarks>
internal sealed class SplitMix(long seed)
{
    private ulong _state = unchecked((ulong)seed);

    /// <summary>
    /// Returns a number below the limit, each with the same probability (Lemire, "Fast Random Integer Generation in an Interval", 2019).
    /// </summary>
    public long Below(long limit)
    {
        var range = (ulong)limit;
        var high = Math.BigMul(Next(), range, out var low);
        if (low < range)
        {
            var uneven = unchecked(0 - range) % range;
            while (low < uneven)
                high = Math.BigMul(Next(), range, out low);
        }
        return (long)high;
    }

    /// <summary>Returns a number each of whose bits depends on all bits of the state.</summary>
    public static ulong Mix(ulong state)
    {
        unchecked
        {
            var mixed = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9;
            mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
            return mixed ^ (mixed >> 31);
        }
    }

    /// <summary>Returns the state that follows.</summary>
    public static ulong Advance(ulong state) => unchecked(state + 0x9E3779B97F4A7C15);

    private ulong Next() => Mix(_state = Advance(_state));
}
