namespace Voron.Benchmarks.Workloads;

internal static class Scaling
{
    /// <summary>Every workload keeps at least one full transaction.</summary>
    private const long SmallestCount = 1_000;

    /// <summary>With large items, fewer of them make a workload long enough.</summary>
    private const long SmallestBytes = 64 << 20;

    public static long Apply(long count, double scale, int itemBytes = 1)
    {
        var smallest = Math.Min(SmallestCount, (SmallestBytes + itemBytes - 1) / itemBytes);
        return Math.Max(Math.Min(count, smallest), (long)(count * scale));
    }
}
