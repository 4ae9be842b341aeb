using System.Diagnostics;
using Voron.Format;
using Voron.Testing;

namespace Voron.FreeSpace;

/// <summary>
/// Decides which free page is taken: from the current section as long as it contains any, then from the best section near the requesting tree's
/// pages, then from the end of the file.
/// </summary>
/// <remarks>
/// The allocator remembers only hints; the map pages hold the truth, and roll back with the transaction. Used only by the holder of the
/// writer.
/// </remarks>
internal sealed unsafe partial class SpaceAllocator
{
    /// <summary>The maximum distance, in sections, of a section from the tree's page to be preferred to all others.</summary>
    private const int NearSections = 16;

    /// <summary>From this many sections on, those with less than <see cref="WorthwhileFraction"/> free are skipped.</summary>
    private const int ManySections = 1024;

    private const int WorthwhileFraction = 32;

    private readonly SectionMapLayout _layout;
    private readonly ISpacePages _pages;
    private readonly SectionMap _map;
    private readonly ReservedPages _reserved;
    private readonly int _preferredFreePages;
    private readonly WithheldSections _withheld = new();
    private long _currentSection = -1;
    private int _nextBit;

    // The number of pages freed since a full scan found nothing: the next scan waits until enough have been freed.
    private long _freedSinceFruitlessScan = long.MaxValue / 2;

    private readonly ExtentSearch _extents;
    private readonly ExtentSearch _untouchedExtents;
    private readonly SectionQueue _queue = new();
    private readonly LowPages _low;
    private readonly Func<long, int> _freePages;

    /// <param name="preferredFreeFraction">
    /// The share of a section's pages that must be free for the section to be preferred because it is near.
    /// </param>
    public SpaceAllocator(SectionMapLayout layout, ISpacePages pages, double preferredFreeFraction)
    {
        _layout = layout;
        _pages = pages;
        _map = new SectionMap(layout, pages);
        _preferredFreePages = Math.Max(1, (int)(layout.PagesPerSection * preferredFreeFraction));
        _reserved = new ReservedPages(layout, _map);
        _extents = new ExtentSearch(layout, pages, _map, _reserved, untouched: false);
        _untouchedExtents = new ExtentSearch(layout, pages, _map, _reserved, untouched: true);
        _freePages = FreePages;
        _low = new LowPages(layout, pages, _map, _reserved, _withheld);
    }

    public SectionMap Map => _map;

    /// <summary>The free pages reserved for staged values.</summary>
    public ReservedPages Reserved => _reserved;

    /// <summary>The number of sections examined by searches for contiguous free pages, for tests.</summary>
    public long SectionsExamined => _extents.SectionsExamined + _untouchedExtents.SectionsExamined;

    /// <summary>Notes that a transaction begins.</summary>
    public void BeginTransaction()
    {
        AssertWriterHeld();
        _extents.BeginTransaction();
        _untouchedExtents.BeginTransaction();
        _queue.BeginTransaction();
        if (_reserved.HasEnded)
            OfferEnded();
    }

    /// <summary>
    /// Notes that free pages have lost their versions, so that they can be written directly. The pages are in ascending order.
    /// </summary>
    public void NoteDetached(ReadOnlySpan<long> pages)
    {
        AssertWriterHeld();
        var last = -1L;
        foreach (var page in pages)
        {
            Debug.Assert(_layout.SectionOf(page) >= last, "Pages must be detached in ascending order.");
            var section = _layout.SectionOf(page);
            if (section != last)
                _untouchedExtents.NoteFreed(section);
            last = section;
        }
    }

    /// <summary>Notes a rollback, of a savepoint too.</summary>
    public void Forget()
    {
        AssertWriterHeld();
        _map.Forget();
        _extents.Forget();
        _untouchedExtents.Forget();
        _queue.Forget();
        _currentSection = -1;
        _freedSinceFruitlessScan = long.MaxValue / 2;
    }

    /// <summary>Withholds a section from allocation while its blocks are being returned.</summary>
    public void Withhold(long section)
    {
        AssertWriterHeld();
        var isAdded = _withheld.Add(section);
        Debug.Assert(isAdded, "A section must be withheld only once.");
        if (_currentSection == section)
            _currentSection = -1;
    }

    /// <summary>Makes a section available for allocation again.</summary>
    public void Offer(long section)
    {
        AssertWriterHeld();
        _withheld.Remove(section);
        if (section >= _map.SectionCount)
            return;
        _queue.Add(section, FreePages(section));

        // Searches have treated the section as full.
        _extents.NoteFreed(section);
        _untouchedExtents.NoteFreed(section);
    }

    /// <summary>
    /// Adds the ranges of a section that can be returned: ranges of free pages that have not changed hands since the last checkpoint,
    /// that are long enough, and that have not been returned in full already. A section that is withheld has none, and reserved pages are
    /// not among them: staged values are being written there.
    /// </summary>
    public void FindUntouched(long section, PossibleHoles holes, List<PageRange> ranges)
    {
        AssertWriterHeld();
        if (_withheld.IsSingle(section) || _map.UsedPages(section) == _layout.PagesPerSection)
            return;
        var bitmap = PlantedFault.PunchReservations ? _map.ReadBitmap(section) : _reserved.ReadBitmap(section);
        var first = section * _layout.PagesPerSection;
        var limit = (int)Math.Min(_layout.PagesPerSection, _pages.PageCount - first);
        int from = 0, left = 0;
        for (var bit = 0; bit <= limit; bit++)
        {
            var isUntouched = bit < limit && !Bitmap.IsSet(bitmap, bit) && (!_pages.HasVersion(first + bit) || PlantedFault.PunchUnflushed);
            if (isUntouched)
            {
                left += holes.IsPunched(first + bit) ? 0 : 1;
                continue;
            }

            if (bit - from >= holes.MinPages && left > 0)
                ranges.Add(new PageRange(first + from, bit - from, left));
            from = bit + 1;
            left = 0;
        }
    }

    /// <summary>True when the page is free, is not reserved, and has not changed hands since the last checkpoint.</summary>
    public bool IsUntouched(long page) => !_map.IsUsed(page) && (!_reserved.Contains(page) || PlantedFault.ForgetReservations)
        && (!_pages.HasVersion(page) || PlantedFault.PunchUnflushed);

    /// <summary>Takes one page.</summary>
    /// <param name="near">A page of the requesting tree, or 0.</param>
    public long AllocatePage(long near)
    {
        AssertWriterHeld();
        if (_currentSection >= 0 && TryTakeFromCurrent(out var page))
            return page;

        var section = ChooseSection(near);
        if (section < 0)
            section = ChooseFromTail(near);
        if (section >= 0)
        {
            _currentSection = section;
            _nextBit = 0;
            if (TryTakeFromCurrent(out page))
                return page;
        }

        page = ExtendOrFind();
        _currentSection = _layout.SectionOf(page);
        _nextBit = (int)(page % _layout.PagesPerSection) + 1;
        return page;
    }

    /// <summary>Takes contiguous pages.</summary>
    /// <param name="pages">The number of pages.</param>
    /// <param name="untouched">Takes only pages without any version: an older snapshot may read the pages that are about to be written.</param>
    public long AllocateExtent(long pages, bool untouched)
    {
        AssertWriterHeld();
        var search = untouched ? _untouchedExtents : _extents;
        var first = FindExtent(search, pages, everywhere: false);
        if (first < 0)
        {
            try
            {
                return _map.Extend(pages);
            }
            catch (StorageFullException)
            {
                first = search.Find(pages, _withheld, int.MaxValue);
                if (first < 0)
                    throw;
            }
        }

        _pages.EnsureBlocks(first, pages);
        _map.SetUsed(first, pages);
        return first;
    }

    /// <summary>
    /// Reserves contiguous free pages without any version, which may then be written although they stay free; null if too few are contiguous.
    /// </summary>
    /// <param name="pages">The number of pages.</param>
    /// <param name="everywhere">Searches all sections that may have such an extent, however long it takes.</param>
    /// <exception cref="StorageFullException">There is not enough space for the blocks that the pages need.</exception>
    public PageReservation? TryReserve(long pages, bool everywhere)
    {
        AssertWriterHeld();
        var first = FindExtent(_untouchedExtents, pages, everywhere);
        if (first < 0)
            return null;
        _pages.EnsureBlocks(first, pages);
        return _reserved.Add(first, pages);
    }

    /// <summary>Extends a reservation in place; false if the pages after it are not available.</summary>
    /// <inheritdoc cref="TryReserve"/>
    public bool TryGrow(PageReservation reservation, long pages)
    {
        AssertWriterHeld();
        if (AvailableBehind(reservation, pages) < pages - reservation.Pages)
            return false;
        _pages.EnsureBlocks(reservation.End, pages - reservation.Pages);
        _reserved.Grow(reservation, pages);
        return true;
    }

    /// <summary>
    /// Adds pages to the end of the file and reserves them: those after a reservation if it can be extended in place, otherwise as many as
    /// requested. The pages stay free, and exist once the transaction is submitted.
    /// </summary>
    /// <param name="reservation">The reservation to extend; null for a new one.</param>
    /// <param name="pages">The resulting number of pages of the reservation.</param>
    /// <returns>The extended reservation, or a new one.</returns>
    /// <exception cref="StorageFullException">There is not enough space.</exception>
    public PageReservation ReserveAtEnd(PageReservation? reservation, long pages)
    {
        AssertWriterHeld();
        var behind = reservation == null ? 0 : AvailableBehind(reservation, pages);
        var grows = reservation != null && reservation.End + behind == _pages.PageCount;
        var missing = grows ? pages - reservation!.Pages - behind : pages;
        var first = _map.Extend(missing, leavesFree: true);
        NoteAvailable(first, missing);
        if (!grows)
            return _reserved.Add(first, pages);
        _pages.EnsureBlocks(reservation!.End, behind);
        _reserved.Grow(reservation, pages);
        return reservation;
    }

    /// <summary>Marks pages of a reservation as used. The reservation stays until it is ended.</summary>
    public void TakeReserved(long first, long pages)
    {
        AssertWriterHeld();
        Debug.Assert(
            _reserved.Contains(first) && _reserved.Contains(first + pages - 1),
            "Pages that a staged value is written to must be reserved.");
        _map.SetUsed(first, pages);
    }

    public void Free(long first, long pages)
    {
        AssertWriterHeld();
        if (first <= 0 || first > _pages.PageCount - pages)
        {
            throw new CorruptionException(
                $"Pages {first} to {first + pages - 1} of '{_pages.FilePath}' cannot be freed: the environment has {_pages.PageCount} pages.");
        }

        _map.SetFree(first, PlantedFault.FreeOneLess && pages > 1 ? pages - 1 : pages);
        _freedSinceFruitlessScan += pages;
        for (var section = _layout.SectionOf(first); section <= _layout.SectionOf(first + pages - 1); section++)
        {
            // Not noted for the other search: freed pages have a version from now on.
            _extents.NoteFreed(section);
            if (_map.SectionCount > ManySections)
                _queue.Add(section, FreePages(section));
        }
    }

    // When the file cannot grow, takes from sections that were not worth taking before.
    private long ExtendOrFind()
    {
        try
        {
            return _map.Extend(1);
        }
        catch (StorageFullException)
        {
            var page = _extents.Find(1, _withheld, int.MaxValue);
            if (page < 0)
                throw;
            _pages.EnsureBlocks(page, 1);
            _map.SetUsed(page, 1);
            return page;
        }
    }

    private bool TryTakeFromCurrent(out long page)
    {
        page = -1;
        if (_currentSection >= _map.SectionCount || FreePages(_currentSection) <= 0)
            return false;

        var bitmap = _reserved.ReadBitmap(_currentSection);
        var bit = FindClear(bitmap, _pages.Holes(_currentSection));
        page = _currentSection * _layout.PagesPerSection + bit;
        if (page >= _pages.PageCount)
            _pages.EnsureCapacity(page + 1);
        _pages.EnsureBlocks(page, 1);
        if (page >= _pages.PageCount)
        {
            // There may be free pages in between.
            _pages.PageCount = page + 1;
            _extents.NoteFreed(_currentSection);
            _untouchedExtents.NoteFreed(_currentSection);
        }

        _nextBit = bit + 1;
        _map.SetUsed(page, 1);
        return true;
    }

    // Pages that were returned to the file system are taken after the other free pages.
    private int FindClear(byte* bitmap, ulong* holes)
    {
        var bit = -1;
        if (holes != null)
        {
            var limit = (int)Math.Min(_layout.PagesPerSection, _pages.PageCount - _currentSection * _layout.PagesPerSection);
            bit = FindClear(bitmap, holes, limit);
            if (bit < 0)
                bit = FindClear(bitmap, null, limit);
        }

        if (bit < 0)
            bit = FindClear(bitmap, null, _layout.PagesPerSection);
        if (bit < 0)
        {
            throw new CorruptionException(
                $"The section map of '{_pages.FilePath}' counts free pages in section {_currentSection}, but the bitmap of the section has none.");
        }

        return bit;
    }

    private int FindClear(byte* bitmap, ulong* without, int limit)
    {
        var bit = _nextBit < limit ? Bitmap.FindClear(bitmap, without, limit, _nextBit) : -1;
        return bit >= 0 ? bit : Bitmap.FindClear(bitmap, without, limit, 0);
    }

    private long ChooseSection(long near)
    {
        var sections = _map.SectionCount;
        var nearSection = Math.Min(_layout.SectionOf(near), sections - 1);
        for (var distance = 0; distance <= NearSections; distance++)
        {
            if (nearSection + distance < sections && FreePages(nearSection + distance) >= _preferredFreePages)
                return nearSection + distance;
            if (nearSection - distance >= 0 && FreePages(nearSection - distance) >= _preferredFreePages)
                return nearSection - distance;
        }

        var worthwhile = _layout.PagesPerSection / WorthwhileFraction;
        if (sections > ManySections)
            return _queue.Take(sections, worthwhile, _freePages);
        if (_freedSinceFruitlessScan < worthwhile)
            return -1;

        var best = -1L;
        var mostFree = 0;
        for (var section = 0L; section < sections; section++)
        {
            var free = FreePages(section);
            if (free > mostFree)
            {
                best = section;
                mostFree = free;
            }
        }

        if (best < 0)
            _freedSinceFruitlessScan = 0;
        return best;
    }

    [Conditional("DEBUG")]
    private void AssertWriterHeld() => _pages.AssertWriterHeld();

    private int FreePages(long section) =>
        _withheld.Contains(section) ? 0 : _layout.PagesPerSection - _reserved.OccupiedPages(section);

    // Returns the number of pages after a reservation that it could take, up to the number needed.
    private long AvailableBehind(PageReservation reservation, long pages) =>
        _untouchedExtents.LengthFrom(reservation.End, pages - reservation.Pages, _withheld);

    private void OfferEnded()
    {
        while (_reserved.Remove() is { } ended)
        {
            NoteAvailable(ended.First, ended.Pages);
            _reserved.Forget();
        }
    }

    // Pages without any version have become available: both searches may find longer extents.
    private void NoteAvailable(long first, long pages)
    {
        _freedSinceFruitlessScan += pages;
        for (var section = _layout.SectionOf(first); section <= _layout.SectionOf(first + pages - 1); section++)
        {
            _extents.NoteFreed(section);
            _untouchedExtents.NoteFreed(section);
            if (_map.SectionCount > ManySections && section < _map.SectionCount)
                _queue.Add(section, FreePages(section));
        }
    }
}
