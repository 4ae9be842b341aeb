namespace Voron.Paging;

/// <summary>Determines how much the data file grows at a time.</summary>
/// <remarks>
/// <code>
///   64 KiB ─▶ 256 KiB ─▶ 1 MiB ─▶ 2 MiB ─▶ 4 MiB ─▶ by 4 MiB, until that is an eighth ─▶ by an eighth
/// </code>
/// Small environments stay small, and large ones grow in few steps. Each step is a sync of the data file, which the flusher's thread does
/// ahead of need; a transaction that outruns it waits for one step, not for several.
/// </remarks>
internal static class GrowthPolicy
{
    /// <summary>The size in bytes of a new data file, unless its first pages take more, and the unit of the first steps.</summary>
    public const int InitialBytes = 64 << 10;

    private const long SmallBytes = 1 << 20;
    private const long LargestDoublingBytes = 4 << 20;

    /// <summary>Returns the next step in pages: at most <paramref name="maxBytes"/>, but at least one unit.</summary>
    public static long NextStep(long capacityPages, int pageSize, long maxBytes)
    {
        var bytes = capacityPages * pageSize;
        var step = bytes < SmallBytes
            ? Math.Min(3 * bytes, SmallBytes - bytes)
            : Math.Max(bytes / 8, Math.Min(bytes, LargestDoublingBytes));
        return Math.Max(UnitPages(pageSize), Math.Min(step, Math.Max(SmallBytes, maxBytes)) / pageSize);
    }

    /// <summary>Returns the number of unused pages from which the next step is due ahead of need.</summary>
    public static long PagesAhead(long capacityPages, long step) => Math.Min(step / 2, capacityPages / 4);

    /// <summary>Returns the number of pages that the file of a closed environment keeps: those in use, in whole units.</summary>
    public static long KeptWhenClosed(long pageCount, int pageSize)
    {
        var unit = UnitPages(pageSize);
        return (pageCount + unit - 1) / unit * unit;
    }

    private static long UnitPages(int pageSize) => InitialBytes / pageSize;
}
