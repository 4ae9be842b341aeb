namespace Voron.Paging;

/// <summary>How much the data file grows at a time.</summary>
internal static class GrowthPolicy
{
    private const long SmallestStepBytes = 1 << 20;

    /// <summary>
    /// An eighth of what there is, at least 1 MiB: small environments stay small, large ones grow in few steps. In pages.
    /// </summary>
    public static long NextStep(long capacityPages, int pageSize, long maxBytes) =>
        Math.Clamp(capacityPages / 8, SmallestStepBytes / pageSize, Math.Max(SmallestStepBytes, maxBytes) / pageSize);
}
