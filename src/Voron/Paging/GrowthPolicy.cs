namespace Voron.Paging;

/// <summary>Determines how much the data file grows at a time.</summary>
internal static class GrowthPolicy
{
    private const long SmallestStepBytes = 1 << 20;

    /// <summary>
    /// Returns the next step in pages: an eighth of the capacity, at least 1 MiB. Small environments stay small, large ones grow in few steps.
    /// </summary>
    public static long NextStep(long capacityPages, int pageSize, long maxBytes) =>
        Math.Clamp(capacityPages / 8, SmallestStepBytes / pageSize, Math.Max(SmallestStepBytes, maxBytes) / pageSize);
}
