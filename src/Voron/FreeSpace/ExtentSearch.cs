using Voron.Format;

namespace Voron.FreeSpace;

/// <summary>
/// Finds the first extent of free pages that is long enough. Sections searched in vain are not searched again before they change.
/// </summary>
internal sealed unsafe class ExtentSearch
{
    /// <summary>The maximum number of unknown sections that a search examines before the file grows instead.</summary>
    public const int MaxSectionsExamined = 4096;

    /// <summary>The result of a search that has examined its maximum of unknown sections: the next one continues.</summary>
    public const long GoesOn = -2;

    private readonly SectionMapLayout _layout;
    private readonly ISpacePages _pages;
    private readonly SectionMap _map;
    private readonly ReservedPages _reserved;
    private readonly bool _untouched;
    private readonly ExtentBounds _bounds = new();

    // Bounds lowered in the open transaction: a rollback makes them wrong.
    private readonly HashSet<long> _lowered = [];

    /// <param name="untouched">True when pages with a version do not count as free.</param>
    public ExtentSearch(SectionMapLayout layout, ISpacePages pages, SectionMap map, ReservedPages reserved, bool untouched)
    {
        _reserved = reserved;
        _layout = layout;
        _pages = pages;
        _map = map;
        _untouched = untouched;
    }

    /// <summary>The number of sections measured so far, for tests of the cost of a search.</summary>
    public long SectionsExamined { get; private set; }

    public void BeginTransaction() => _lowered.Clear();

    /// <summary>Notes a rollback: pages taken by the transaction are free again.</summary>
    public void Forget()
    {
        foreach (var section in _lowered)
            _bounds.Raise(section);
        _lowered.Clear();
    }

    /// <summary>Notes that pages of a section have become free, or have lost their versions.</summary>
    public void NoteFreed(long section)
    {
        if (_bounds.IsUnknown(section) && (section == 0 || _bounds.IsUnknown(section - 1)))
            return;
        _bounds.Raise(section);
        while (section > 0)
        {
            // An extent that reaches the end of the section before continues in this one.
            _bounds.Raise(--section);
            if (section >= _map.SectionCount || _map.UsedPages(section) != 0)
                return;
        }
    }

    /// <summary>
    /// Returns the first page of the first extent of <paramref name="pages"/> free pages; -1 if there is none, or <see cref="GoesOn"/>.
    /// </summary>
    /// <param name="withheld">Sections that count as full.</param>
    /// <param name="mostExamined">The maximum number of unknown sections to examine.</param>
    public long Find(long pages, WithheldSections withheld, int mostExamined)
    {
        var sections = Math.Min(_map.SectionCount, withheld.TailStart);
        var examined = 0;
        for (var section = _bounds.Next(0, sections, pages); section >= 0; section = _bounds.Next(section + 1, sections, pages))
        {
            if (_bounds.IsUnknown(section) && ++examined > mostExamined)
                return GoesOn;
            var found = Measure(section, pages, withheld, out var longest);
            if (found >= 0)
                return found;
            _bounds.Lower(section, longest);
            _lowered.Add(section);
        }

        return -1;
    }

    /// <summary>Returns the number of contiguous free pages from a page on, up to the number that is enough.</summary>
    /// <param name="page">The first page.</param>
    /// <param name="pages">The number of pages that is enough.</param>
    /// <param name="withheld">Sections that count as full.</param>
    public long LengthFrom(long page, long pages, WithheldSections withheld)
    {
        var section = _layout.SectionOf(page);
        if (page >= _pages.PageCount || withheld.Contains(section))
            return 0;
        var bit = (int)(page % _layout.PagesPerSection);
        var end = EndOfExtent(_reserved.ReadBitmap(section), section * _layout.PagesPerSection, bit, Limit(section));
        long length = end - bit;
        if (end == _layout.PagesPerSection && length < pages)
            length += LengthAtStart(section + 1, pages - length, withheld);
        return Math.Min(length, pages);
    }

    // Returns the first extent in a section that is long enough, or -1 and the length of the longest one.
    private long Measure(long section, long pages, WithheldSections withheld, out long longest)
    {
        SectionsExamined++;
        longest = 0;
        if (withheld.Contains(section) || _reserved.OccupiedPages(section) == _layout.PagesPerSection)
            return -1;
        var bitmap = _reserved.ReadBitmap(section);
        var first = section * _layout.PagesPerSection;
        var limit = Limit(section);
        for (var bit = Bitmap.FindClear(bitmap, limit, 0); bit >= 0;)
        {
            var end = EndOfExtent(bitmap, first, bit, limit);
            long length = end - bit;

            // Reads the bitmaps of other sections, and is therefore the last step: this extent ends with its section.
            if (end == limit && limit == _layout.PagesPerSection && length < pages)
                length += LengthAtStart(section + 1, pages - length, withheld);
            if (length >= pages)
                return first + bit;
            longest = Math.Max(longest, length);
            bit = end < limit ? Bitmap.FindClear(bitmap, limit, Math.Max(end, bit + 1)) : -1;
        }

        return -1;
    }

    // Returns the number of contiguous free pages from the start of a section on, as far as it matters.
    private long LengthAtStart(long section, long pages, WithheldSections withheld)
    {
        var length = 0L;
        for (; section < _map.SectionCount && length < pages && !withheld.Contains(section); section++)
        {
            var limit = Limit(section);
            var end = EndOfExtent(_reserved.ReadBitmap(section), section * _layout.PagesPerSection, 0, limit);
            length += end;
            if (end < _layout.PagesPerSection)
                break;
        }

        return length;
    }

    private int Limit(long section) => (int)Math.Min(_layout.PagesPerSection, _pages.PageCount - section * _layout.PagesPerSection);

    private int EndOfExtent(byte* bitmap, long first, int bit, int limit)
    {
        var end = Bitmap.FindSet(bitmap, limit, bit);
        if (end < 0)
            end = limit;
        if (!_untouched)
            return end;
        for (var at = bit; at < end; at++)
        {
            if (_pages.HasVersion(first + at))
                return at;
        }

        return end;
    }
}
