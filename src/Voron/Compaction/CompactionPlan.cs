using Voron.Format;
using Voron.FreeSpace;
using Voron.Maintenance;
using Voron.Snapshots;

namespace Voron.Compaction;

/// <summary>The goal of one compaction pass.</summary>
/// <param name="TransactionId">The transaction whose state the plan is based on.</param>
/// <param name="TailStart">The first page of the tail that is to become free.</param>
/// <param name="PagesToMove">The number of used pages in the tail.</param>
/// <param name="PagesToCut">The number of pages by which the file becomes shorter.</param>
/// <param name="UsedPages">The number of used pages in the whole file.</param>
/// <param name="PageCount">The number of pages of the file.</param>
internal readonly record struct CompactionPlan(
    long TransactionId, long TailStart, long PagesToMove, long PagesToCut, long UsedPages, long PageCount)
{
    /// <summary>The percentage of free pages that a plan leaves unused: other callers take pages too, and not every extent fits.</summary>
    private const int PercentSpared = 2;

    /// <summary>A pass must shorten the file by at least one part in this many, and by the smallest range that is returned to the system.</summary>
    private const int LeastPart = 50;

    private const int LeastBytes = PossibleHoles.MinBytes;

    /// <summary>Finds the lowest page that has enough free pages before it for all used pages from there on.</summary>
    /// <param name="layout">The layout of the section maps.</param>
    /// <param name="snapshot">The state.</param>
    /// <param name="reservedPages">The number of free pages that staged values have taken.</param>
    /// <exception cref="CorruptionException">The section map is damaged.</exception>
    public static CompactionPlan Make(SectionMapLayout layout, SnapshotPages snapshot, long reservedPages)
    {
        var map = new SectionMap(layout, new SnapshotSpace(snapshot));
        var used = Count(map);
        var pageCount = snapshot.PageCount;
        var total = used.Sum(pages => (long)pages);
        var free = pageCount - total - reservedPages;
        var behind = 0L;
        var section = used.Length - 1;
        for (; section > 0; section--)
        {
            var existing = Math.Min(layout.PagesPerSection, pageCount - section * (long)layout.PagesPerSection);
            var freeBefore = free - (existing - used[section]);
            if (!Holds(freeBefore, behind + used[section]))
                break;
            (free, behind) = (freeBefore, behind + used[section]);
        }

        var tail = Math.Min(pageCount, (section + 1L) * layout.PagesPerSection);
        while (tail > 1)
        {
            var isUsed = map.IsUsed(tail - 1);
            if (!Holds(isUsed ? free : free - 1, isUsed ? behind + 1 : behind))
                break;
            tail--;
            (free, behind) = isUsed ? (free, behind + 1) : (free - 1, behind);
        }

        return new CompactionPlan(snapshot.Id, tail, behind, pageCount - tail, total, pageCount);
    }

    /// <summary>True if the pass shortens the file enough to be worthwhile.</summary>
    public bool IsWorthwhile(int pageSize) => PagesToCut >= Math.Max(Math.Max(1, LeastBytes / pageSize), PageCount / LeastPart);

    private static bool Holds(long free, long pages) => free * (100 - PercentSpared) / 100 >= pages;

    private static ushort[] Count(SectionMap map)
    {
        var used = new ushort[map.SectionCount];
        for (var section = 0; section < used.Length; section++)
            used[section] = (ushort)map.UsedPages(section);
        return used;
    }
}
