using Voron.Simulation.Memory;

namespace Voron.Tests;

/// <summary>The managed memory that some work takes on its thread.</summary>
internal static class ManagedAllocation
{
    /// <summary>
    /// Returns the bytes of the round that took the least. The runtime takes memory on the same thread when it compiles a method that has become
    /// hot, such as 2 KB for a table of literals, and that is not the work's.
    /// </summary>
    /// <param name="work">The work of a round.</param>
    /// <param name="rounds">The number of rounds; more for work that grows lists at first.</param>
    public static long Least(Action work, int rounds = 8)
    {
        var least = long.MaxValue;
        for (var round = 0; round < rounds; round++)
        {
            var before = Allocated;
            work();
            least = Math.Min(least, Allocated - before);
        }

        return least;
    }

    private static long Allocated => GC.GetAllocatedBytesForCurrentThread() - MemoryCase.ManagedBytes;
}
