namespace Voron.Benchmarks.Workloads;

internal static class Scaling
{
    /// <summary>Every workload keeps at least one full transaction.</summary>
    private const long SmallestCount = 1_000;

    public static long Apply(long count, double scale) => Math.Max(Math.Min(count, SmallestCount), (long)(count * scale));
}
