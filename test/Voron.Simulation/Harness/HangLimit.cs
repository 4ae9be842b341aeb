using Voron.Testing;

namespace Voron.Simulation.Harness;

/// <summary>The time after which a call that has not ended counts as hanging.</summary>
internal static class HangLimit
{
    private static readonly TimeSpan OfHunt = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Returns the limit for a sound engine, in seconds: far longer than even a crowded machine needs. A hunt for a planted fault waits ten seconds
    /// at most, because it reaches the limit in the end.
    /// </summary>
    public static TimeSpan OfSeconds(double seconds)
    {
        var limit = TimeSpan.FromSeconds(seconds);
        return PlantedFault.IsPlanted && limit > OfHunt ? OfHunt : limit;
    }
}
