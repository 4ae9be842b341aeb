using Voron.FreeSpace;
using Voron.Maintenance;
using Voron.Snapshots;
using Voron.Transactions;

namespace Voron.Tool.Reports;

/// <summary>A part of the data file.</summary>
/// <param name="FirstPage">Its first page.</param>
/// <param name="Pages">The number of its pages.</param>
/// <param name="UsedPages">The number of pages in use.</param>
internal readonly record struct SpaceCell(long FirstPage, long Pages, long UsedPages)
{
    public double UsedFraction => Pages == 0 ? 0 : UsedPages / (double)Pages;
}

/// <summary>The used and the free pages of the data file, in parts of equal size, few enough for a person to look at.</summary>
internal static class SpaceMap
{
    /// <summary>The maximum number of parts. Each is one section of 4 MiB, or several in a larger file.</summary>
    public const int MostCells = 1024;

    /// <exception cref="CorruptionException">The section map is damaged.</exception>
    public static List<SpaceCell> Read(Engine engine, SnapshotPages snapshot, CancellationToken stop)
    {
        var map = new SectionMap(engine.Layout, new SnapshotSpace(snapshot));
        return Read(map.SectionCount, engine.Layout.PagesPerSection, snapshot.PageCount, map.UsedPages, stop);
    }

    /// <summary>Adds sections up to parts.</summary>
    /// <param name="sections">The number of sections.</param>
    /// <param name="pagesPerSection">The number of pages in a section.</param>
    /// <param name="pageCount">The number of pages that exist: the last section may have fewer.</param>
    /// <param name="usedPages">Returns the number of used pages in a section.</param>
    /// <param name="stop">Ends the reading.</param>
    public static List<SpaceCell> Read(
        long sections, int pagesPerSection, long pageCount, Func<long, int> usedPages, CancellationToken stop)
    {
        var sectionsPerCell = Math.Max(1, (sections + MostCells - 1) / MostCells);
        var cells = new List<SpaceCell>();
        for (var first = 0L; first < sections; first += sectionsPerCell)
        {
            stop.ThrowIfCancellationRequested();
            var used = 0L;
            var end = Math.Min(sections, first + sectionsPerCell);
            for (var section = first; section < end; section++)
                used += usedPages(section);
            var firstPage = first * pagesPerSection;
            cells.Add(new SpaceCell(firstPage, Math.Min(end * pagesPerSection, pageCount) - firstPage, used));
        }

        return cells;
    }
}
