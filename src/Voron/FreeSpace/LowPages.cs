using System.Diagnostics;
using Voron.Format;

namespace Voron.FreeSpace;

/// <summary>
/// Takes the lowest free pages, for a compaction: single pages from the first section that contains any, and extents where they fit first,
/// wherever the rest of the file is withheld.
/// </summary>
/// <remarks>
/// Never grows the file, and never allocates blocks while the writer is held: it names a section with holes to the caller instead, which allocates
/// its blocks without the writer (<see cref="SpaceAllocator.Withhold"/>) and tries again. Used only by the holder of the writer.
/// </remarks>
internal sealed unsafe class LowPages(SectionMapLayout layout, ISpacePages pages, SectionMap map, ReservedPages reserved, WithheldSections withheld)
{
    /// <summary>The maximum number of sections that one call passes, so that the writer is not held for long.</summary>
    private const int MaxSectionsPassed = 4096;

    // The sections before this one were full when they were passed.
    private long _section;
    private int _nextBit;

    /// <summary>Begins again at the start of the file.</summary>
    public void Restart()
    {
        _section = 0;
        _nextBit = 0;
    }

    /// <summary>Takes the next free page before the tail.</summary>
    /// <param name="unprepared">The section whose blocks must be allocated first, if the result is -1; otherwise -1.</param>
    /// <returns>The page; -1 if there is none, or none yet.</returns>
    public long TryTake(out long unprepared)
    {
        map.AssertWriterHeld();
        unprepared = -1;
        for (var passed = 0; !IsPastAll && passed < MaxSectionsPassed; _section++, _nextBit = 0, passed++)
        {
            if (withheld.IsSingle(_section) || reserved.OccupiedPages(_section) >= layout.PagesPerSection)
                continue;
            var first = _section * layout.PagesPerSection;
            if (pages.HasHoles(first, layout.PagesPerSection))
            {
                unprepared = _section;
                return -1;
            }

            var limit = (int)Math.Min(layout.PagesPerSection, withheld.TailPage - first);
            var bit = _nextBit < limit ? Bitmap.FindClear(reserved.ReadBitmap(_section), limit, _nextBit) : -1;
            if (bit < 0)
                continue;
            _nextBit = bit + 1;
            var page = first + bit;
            map.SetUsed(page, Testing.PlantedFault.ReserveUntaken ? 0 : 1);
            return page;
        }

        return -1;
    }

    /// <summary>True when all sections before the tail have been passed.</summary>
    public bool IsPastAll => _section * layout.PagesPerSection >= withheld.TailPage;

    /// <summary>Finds the first extent of free pages that ends before a page.</summary>
    /// <param name="search">The search, which determines the pages that count as free.</param>
    /// <param name="count">The number of pages.</param>
    /// <param name="before">The page; if it is before the tail, the first page of the tail is used instead.</param>
    /// <param name="mostExamined">The maximum number of unknown sections to examine.</param>
    /// <returns>The first page; -1 if there is no such extent; <see cref="ExtentSearch.GoesOn"/> if the search must be repeated.</returns>
    public long Find(ExtentSearch search, long count, long before, int mostExamined)
    {
        map.AssertWriterHeld();
        var (section, page) = (withheld.TailStart, withheld.TailPage);
        Debug.Assert(withheld.HasTail, "Pages are moved only while the tail of the file is withheld.");
        before = Math.Max(before, page);
        var end = layout.SectionOf(before) + 1;
        withheld.SetTail(end, page);
        try
        {
            var found = search.Find(count, withheld, mostExamined);
            return found + count <= before || found < 0 ? found : -1;
        }
        finally
        {
            withheld.SetTail(section, page);

            // Extents that reach the place where the search ended may be longer than it has found.
            if (end < map.SectionCount)
                search.NoteFreed(end);
        }
    }

    /// <summary>Returns the first section with holes among some free pages; -1 if all have blocks.</summary>
    public long FindUnprepared(long first, long count)
    {
        for (var section = layout.SectionOf(first); section <= layout.SectionOf(first + count - 1); section++)
        {
            var from = Math.Max(first, section * layout.PagesPerSection);
            var to = Math.Min(first + count, (section + 1) * layout.PagesPerSection);
            if (pages.HasHoles(from, to - from))
                return section;
        }

        return -1;
    }
}
