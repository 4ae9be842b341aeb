using System.Diagnostics;

namespace Voron.FreeSpace;

/// <content>
/// The withheld tail of the file, and the pages that a compaction takes before it. While a tail is withheld, other callers allocate before it, and a
/// part of it is offered to them again before they make the file grow.
/// </content>
internal sealed unsafe partial class SpaceAllocator
{
    /// <summary>The number of tail sections that are offered again at first; if they are not enough, twice as many follow.</summary>
    private const long OfferedAtOnce = 16;

    /// <summary>The maximum number of sections that a compaction's search for an extent examines while the writer is held.</summary>
    private const int MaxSectionsExamined = 512;

    /// <summary>The sections from which nothing is allocated although they have free pages.</summary>
    public WithheldSections Withheld => _withheld;

    /// <summary>Takes single pages for a compaction.</summary>
    public LowPages Low => _low;

    /// <summary>Withholds all pages from one on, so that they become free.</summary>
    public void WithholdTail(long page)
    {
        AssertWriterHeld();

        // The first section stays open: with no section before the tail, the next caller that needs a page would be offered the tail immediately.
        var section = Math.Max(1, _layout.SectionOf(page));
        Debug.Assert(!_withheld.HasTail, "One compaction at a time withholds the tail of the file.");
        _withheld.SetTail(section, page);
        if (_currentSection >= section)
            _currentSection = -1;
        _low.Restart();
    }

    /// <summary>Offers the whole tail again; does nothing when there is none.</summary>
    public void OfferTail()
    {
        AssertWriterHeld();
        if (_withheld.HasTail)
            OfferTail(_map.SectionCount);
    }

    /// <summary>Takes contiguous pages before a page, as close to the start of the file as possible.</summary>
    /// <param name="pages">The number of pages.</param>
    /// <param name="before">The page; if it is before the tail, the first page of the tail is used instead.</param>
    /// <param name="unprepared">The section whose blocks must be allocated first, if the result is negative; otherwise -1.</param>
    /// <returns>The first page; -1 if there is no such extent; <see cref="ExtentSearch.GoesOn"/> if the search must be repeated.</returns>
    public long TryTakeBefore(long pages, long before, out long unprepared)
    {
        AssertWriterHeld();
        unprepared = -1;
        var first = _low.Find(_extents, pages, before, MaxSectionsExamined);
        if (first < 0)
            return first;
        unprepared = _low.FindUnprepared(first, pages);
        if (unprepared >= 0)
            return -1;
        _map.SetUsed(first, pages);
        return first;
    }

    /// <summary>
    /// As <see cref="TryTakeBefore"/>, but reserves pages without any version, which may then be written although they stay free, once they have
    /// blocks.
    /// </summary>
    /// <param name="pages">The number of pages.</param>
    /// <param name="before">The page; if it is before the tail, the first page of the tail is used instead.</param>
    /// <param name="goesOn">True if the search must be repeated.</param>
    /// <returns>The reservation; null if there is no such extent, or not yet.</returns>
    public PageReservation? TryReserveBefore(long pages, long before, out bool goesOn)
    {
        AssertWriterHeld();
        var first = _low.Find(_untouchedExtents, pages, before, MaxSectionsExamined);
        goesOn = first == ExtentSearch.GoesOn;
        return first < 0 ? null : _reserved.Add(first, pages);
    }

    /// <summary>
    /// Examines some of the sections that have not been examined since the opening, so that other callers find free pages before the tail. Returns
    /// false when there is none left.
    /// </summary>
    public bool ExamineSome()
    {
        AssertWriterHeld();
        var sections = _map.SectionCount;
        return sections > ManySections && _queue.ExamineSome(sections, _layout.PagesPerSection / WorthwhileFraction, _freePages);
    }

    private long FindExtent(ExtentSearch search, long pages, bool everywhere)
    {
        for (var offered = OfferedAtOnce; ; offered *= 2)
        {
            // A search that has not examined everything is not repeated: that takes too long with the writer held.
            var first = search.Find(pages, _withheld, everywhere ? int.MaxValue : ExtentSearch.MaxSectionsExamined);
            if (first >= 0 || !TryOfferSome(offered) || first == ExtentSearch.GoesOn)
                return first;
        }
    }

    // Called when no section is worth taking. There may be sections that have not been examined; if not, more and more of the tail is offered.
    private long ChooseFromTail(long near)
    {
        if (!_withheld.HasTail)
            return -1;
        var isMoreLeft = true;
        while (isMoreLeft)
        {
            isMoreLeft = ExamineSome();
            if (ChooseSection(near) is var section && section >= 0)
                return section;
        }

        for (var offered = OfferedAtOnce; TryOfferSome(offered); offered *= 2)
        {
            if (ChooseSection(near) is var section && section >= 0)
                return section;
        }

        return -1;
    }

    private bool TryOfferSome(long sections)
    {
        if (!_withheld.HasTail)
            return false;
        OfferTail(Math.Min(_map.SectionCount, _withheld.TailStart + sections));
        return true;
    }

    private void OfferTail(long end)
    {
        var from = _withheld.TailStart;
        if (end < _map.SectionCount)
            _withheld.SetTail(end, end * _layout.PagesPerSection);
        else
            _withheld.RemoveTail();
        _freedSinceFruitlessScan = long.MaxValue / 2;
        _queue.ExamineFrom(from);
        for (var section = from; section < end; section++)
        {
            _extents.NoteFreed(section);
            _untouchedExtents.NoteFreed(section);
        }
    }
}
