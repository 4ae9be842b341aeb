using Voron.Format;
using Voron.Primitives;

namespace Voron.FreeSpace;

/// <summary>
/// Decides which free page is taken: from the current section as long as it can serve, then from the best one near the
/// asking tree's pages, then from the end of the file.
/// </summary>
/// <remarks>
/// It remembers only hints; the truth is in the map pages, which roll back with the transaction. Used by the holder of the
/// writer only.
/// </remarks>
internal sealed unsafe class SpaceAllocator
{
    /// <summary>How far from the tree's page a section may be, in sections, to be preferred to all others.</summary>
    private const int NearSections = 16;

    /// <summary>From this many sections on, those with less than <see cref="WorthwhileFraction"/> free are left alone.</summary>
    private const int ManySections = 1024;

    private const int WorthwhileFraction = 32;

    private readonly SectionMapLayout _layout;
    private readonly ISpacePages _pages;
    private readonly SectionMap _map;
    private readonly int _preferredFreePages;
    private readonly HashSet<long> _withheld = [];
    private long _currentSection = -1;
    private int _nextBit;

    // A full scan has found nothing: no other is made before this many pages have been freed.
    private long _freedSinceFruitlessScan = long.MaxValue / 2;

    /// <param name="preferredFreeFraction">
    /// The share of a section's pages that must be free for the section to be preferred because it is near.
    /// </param>
    public SpaceAllocator(SectionMapLayout layout, ISpacePages pages, double preferredFreeFraction)
    {
        _layout = layout;
        _pages = pages;
        _map = new SectionMap(layout, pages);
        _preferredFreePages = Math.Max(1, (int)(layout.PagesPerSection * preferredFreeFraction));
    }

    public SectionMap Map => _map;

    /// <summary>To be called after any rollback.</summary>
    public void Forget()
    {
        _map.Forget();
        _currentSection = -1;
        _freedSinceFruitlessScan = long.MaxValue / 2;
    }

    /// <summary>Keeps a section from being taken, while its blocks are being given back.</summary>
    public void Withhold(long section)
    {
        _withheld.Add(section);
        if (_currentSection == section)
            _currentSection = -1;
    }

    /// <summary>Lets a section be taken again.</summary>
    public void Offer(long section) => _withheld.Remove(section);

    /// <summary>True when every page of the section is free, and has not changed hands since the last checkpoint.</summary>
    public bool IsUntouched(long section)
    {
        if (_map.UsedPages(section) != 0)
            return false;
        var first = section * _layout.PagesPerSection;
        var end = Math.Min(first + _layout.PagesPerSection, _pages.PageCount);
        for (var page = first; page < end; page++)
        {
            if (_pages.HasVersion(page) && !PlantedFault.PunchUnflushed)
                return false;
        }

        return true;
    }

    /// <summary>Takes one page.</summary>
    /// <param name="near">A page of the tree that asks, or 0.</param>
    public long AllocatePage(long near)
    {
        if (_currentSection >= 0 && TryTakeFromCurrent(out var page))
            return page;

        var section = ChooseSection(near);
        if (section >= 0)
        {
            _currentSection = section;
            _nextBit = 0;
            if (TryTakeFromCurrent(out page))
                return page;
        }

        page = _map.Extend(1);
        _currentSection = _layout.SectionOf(page);
        _nextBit = (int)(page % _layout.PagesPerSection) + 1;
        return page;
    }

    /// <summary>Takes pages in a row.</summary>
    /// <param name="pages">How many.</param>
    /// <param name="untouched">Only pages without any version: what is about to be written may be what an older snapshot reads.</param>
    public long AllocateRun(long pages, bool untouched)
    {
        var first = FindRun(pages, untouched);
        if (first < 0)
            return _map.Extend(pages);
        for (var section = _layout.SectionOf(first); section <= _layout.SectionOf(first + pages - 1); section++)
            RefillIfEmpty(section);
        _map.SetUsed(first, pages);
        return first;
    }

    public void Free(long first, long pages)
    {
        if (first <= 0 || first > _pages.PageCount - pages)
            throw new CorruptionException($"Pages {first} to {first + pages - 1} cannot be freed: there are {_pages.PageCount} pages.");
        _map.SetFree(first, PlantedFault.FreeOneLess && pages > 1 ? pages - 1 : pages);
        _freedSinceFruitlessScan += pages;
    }

    private bool TryTakeFromCurrent(out long page)
    {
        page = -1;
        if (_currentSection >= _map.SectionCount || _map.UsedPages(_currentSection) >= _layout.PagesPerSection)
            return false;

        RefillIfEmpty(_currentSection);
        var bitmap = _map.ReadBitmap(_currentSection);
        var bit = _nextBit < _layout.PagesPerSection ? Bitmap.FindClear(bitmap, _layout.PagesPerSection, _nextBit) : -1;
        if (bit < 0)
            bit = Bitmap.FindClear(bitmap, _layout.PagesPerSection, 0);
        if (bit < 0)
            throw new CorruptionException($"Section {_currentSection} is said to have free pages, and its bitmap has none.");

        page = _currentSection * _layout.PagesPerSection + bit;
        if (page >= _pages.PageCount)
        {
            _pages.EnsureCapacity(page + 1);
            _pages.PageCount = page + 1;
        }

        _nextBit = bit + 1;
        _map.SetUsed(page, 1);
        return true;
    }

    private long ChooseSection(long near)
    {
        var sections = _map.SectionCount;
        var home = Math.Min(_layout.SectionOf(near), sections - 1);
        for (var distance = 0; distance <= NearSections; distance++)
        {
            if (home + distance < sections && FreePages(home + distance) >= _preferredFreePages)
                return home + distance;
            if (home - distance >= 0 && FreePages(home - distance) >= _preferredFreePages)
                return home - distance;
        }

        if (_freedSinceFruitlessScan < _layout.PagesPerSection / WorthwhileFraction)
            return -1;

        var best = -1L;
        var mostFree = sections > ManySections ? _layout.PagesPerSection / WorthwhileFraction : 0;
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

    private int FreePages(long section) =>
        _withheld.Count > 0 && _withheld.Contains(section) ? 0 : _layout.PagesPerSection - _map.UsedPages(section);

    // Blocks are given back by whole sections only, and only by those that are empty.
    private void RefillIfEmpty(long section)
    {
        if (_map.UsedPages(section) != 0)
            return;
        var first = section * _layout.PagesPerSection;
        _pages.EnsureBlocks(first, Math.Min(_layout.PagesPerSection, _pages.PageCount - first));
    }

    // First fit over the whole file; sections that are full are passed over by their count.
    private long FindRun(long pages, bool untouched)
    {
        var sections = _map.SectionCount;
        long start = -1, length = 0;
        for (var section = 0L; section < sections; section++)
        {
            if (FreePages(section) == 0)
            {
                length = 0;
                continue;
            }

            var bitmap = _map.ReadBitmap(section);
            var limit = (int)Math.Min(_layout.PagesPerSection, _pages.PageCount - section * _layout.PagesPerSection);
            var bit = 0;
            while (bit < limit)
            {
                if (Bitmap.IsSet(bitmap, bit) || (untouched && _pages.HasVersion(section * _layout.PagesPerSection + bit)))
                {
                    length = 0;
                    var clear = Bitmap.FindClear(bitmap, limit, bit + 1);
                    bit = clear < 0 ? limit : clear;
                    continue;
                }

                if (length == 0)
                    start = section * _layout.PagesPerSection + bit;
                if (++length == pages)
                    return start;
                bit++;
            }
        }

        return -1;
    }
}
