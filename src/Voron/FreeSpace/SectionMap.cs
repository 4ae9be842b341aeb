using System.Diagnostics;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Testing;

namespace Voron.FreeSpace;

/// <summary>Finds and creates the map pages of groups, and reads and sets the bits of pages.</summary>
internal sealed unsafe class SectionMap
{
    private readonly SectionMapLayout _layout;
    private readonly ISpacePages _pages;
    private readonly List<long> _mapPages = [];

    public SectionMap(SectionMapLayout layout, ISpacePages pages)
    {
        _layout = layout;
        _pages = pages;
    }

    /// <summary>The number of sections that contain pages below the page count.</summary>
    public long SectionCount => (_pages.PageCount + _layout.PagesPerSection - 1) / _layout.PagesPerSection;

    /// <summary>Forgets the known map pages, after a rollback.</summary>
    public void Forget()
    {
        AssertWriterHeld();
        _mapPages.Clear();
    }

    /// <summary>In debug builds, asserts that the caller holds the writer, when these are the writer's pages.</summary>
    [Conditional("DEBUG")]
    public void AssertWriterHeld() => _pages.AssertWriterHeld();

    /// <summary>Returns the number of used pages in a section.</summary>
    public int UsedPages(long section) => *(ushort*)(_pages.ReadPage(MapPage(section / _layout.SectionsPerGroup)) + _layout.CountOffset(section));

    /// <summary>Returns the bitmap of a section, which may be read until the next change.</summary>
    public byte* ReadBitmap(long section) => _pages.ReadPage(MapPage(section / _layout.SectionsPerGroup)) + _layout.BitmapOffset(section);

    public bool IsUsed(long page) => Bitmap.IsSet(ReadBitmap(_layout.SectionOf(page)), (int)(page % _layout.PagesPerSection));

    /// <summary>Sets the bits of pages that are free.</summary>
    public void SetUsed(long first, long pages) => Change(first, pages, used: true);

    /// <summary>Clears the bits of pages that are used.</summary>
    /// <exception cref="CorruptionException">One of them is free: a page of another owner would be allocated twice.</exception>
    public void SetFree(long first, long pages) => Change(first, pages, used: false);

    /// <summary>
    /// Takes <paramref name="pages"/> contiguous pages from the end of the file, and creates the map pages that they need, after them.
    /// </summary>
    /// <param name="pages">The number of pages.</param>
    /// <param name="leavesFree">True to leave the pages free, so that they only count as existing from now on.</param>
    /// <returns>The first page.</returns>
    public long Extend(long pages, bool leavesFree = false)
    {
        AssertWriterHeld();
        var first = _pages.PageCount;
        var end = first + pages;
        var firstGroup = (first + _layout.PagesPerGroup - 1) / _layout.PagesPerGroup;

        // The pages for the new groups may themselves begin a new group.
        long lastGroup, directoryPages, total;
        do
        {
            lastGroup = _layout.GroupOf(end - 1);
            directoryPages = 0;
            for (var group = firstGroup; group <= lastGroup; group++)
            {
                if (group % _layout.NumbersPerPage == 0)
                    directoryPages++;
            }

            total = first + pages + Math.Max(0, lastGroup - firstGroup + 1) + directoryPages;
            if (total <= end)
                break;
            end = total;
        }
        while (true);

        if (end > _layout.MaxPageCount)
            throw new StorageFullException(
                $"'{_pages.FilePath}' cannot grow to {end} pages of {_layout.PageSize} bytes: the maximum is {_layout.MaxPageCount} pages.");
        _pages.EnsureCapacity(end);
        _pages.EnsureBlocks(first, end - first);
        _pages.PageCount = end;

        var next = first + pages;
        for (var group = firstGroup; group <= lastGroup; group++)
        {
            long directoryPage;
            if (group % _layout.NumbersPerPage == 0)
            {
                directoryPage = next++;
                _pages.AddPage(directoryPage, PageKind.SectionMap);
                SetNumber(SectionMapLayout.RootPage.Value, (int)(group / _layout.NumbersPerPage), directoryPage);
            }
            else
            {
                directoryPage = DirectoryPage(group);
            }

            var mapPage = next++;
            _pages.AddPage(mapPage, PageKind.SectionMap);
            SetNumber(directoryPage, (int)(group % _layout.NumbersPerPage), mapPage);
        }

        var free = leavesFree ? pages : 0;
        SetUsed(first + free, end - first - free);
        return first;
    }

    /// <summary>Creates the first pages of a new environment: root, directory, map.</summary>
    public void Create()
    {
        _pages.EnsureCapacity(3);
        _pages.PageCount = 3;
        _pages.AddPage(0, PageKind.SectionMap);
        _pages.AddPage(1, PageKind.SectionMap);
        _pages.AddPage(2, PageKind.SectionMap);
        SetNumber(0, 0, 1);
        SetNumber(1, 0, 2);
        SetUsed(0, 3);
    }

    /// <summary>Returns the directory page that names the map page of a group.</summary>
    /// <exception cref="CorruptionException">The root names no page of the environment, or one that is not a section map.</exception>
    public long DirectoryPage(long group)
    {
        var directory = Number(SectionMapLayout.RootPage.Value, (int)(group / _layout.NumbersPerPage));
        if (!PlantedFault.BelieveDirectory && (directory <= 0 || directory >= _pages.PageCount || !IsMap(directory)))
        {
            throw new CorruptionException(
                $"The root of the section map of '{_pages.FilePath}' names page {directory} as the directory of group {group}, " +
                $"but that page is not a section map, or is not among the {_pages.PageCount} pages.");
        }

        return directory;
    }

    /// <summary>Returns the map page of a group.</summary>
    public long MapPage(long group)
    {
        AssertWriterHeld();
        while (_mapPages.Count <= group)
            _mapPages.Add(PlantedFault.LocateAllMaps ? LocateMapPage(_mapPages.Count) : 0);

        // Located one at a time: otherwise the first transaction after an open would read the map pages of the whole store.
        ref var page = ref CollectionsMarshal.AsSpan(_mapPages)[(int)group];
        if (page == 0)
            page = LocateMapPage(group);
        return page;
    }

    /// <summary>Locates the map page of a group directly, without those of the groups before it.</summary>
    public long LocateMapPage(long group)
    {
        var map = Number(DirectoryPage(group), (int)(group % _layout.NumbersPerPage));
        if (map <= 0 || map >= _pages.PageCount || !IsMap(map))
        {
            throw new CorruptionException(
                $"The directory of section maps of '{_pages.FilePath}' names page {map} as the map of group {group}, " +
                $"but that page is not a section map, or is not among the {_pages.PageCount} pages.");
        }

        return map;
    }

    /// <summary>Names another page as the map page of a group: a copy.</summary>
    public void SetMapPage(long group, long page)
    {
        SetNumber(DirectoryPage(group), (int)(group % _layout.NumbersPerPage), page);
        _mapPages.Clear();
    }

    /// <summary>Names another page as a directory page: a copy.</summary>
    /// <param name="group">A group whose map page is in the directory.</param>
    /// <param name="page">The page.</param>
    public void SetDirectoryPage(long group, long page) =>
        SetNumber(SectionMapLayout.RootPage.Value, (int)(group / _layout.NumbersPerPage), page);

    /// <summary>
    /// Forgets the last group, whose pages are all free: it will be created again when the file grows. The caller frees its map page, and with the
    /// first group of a directory also the directory page, and lowers the page count to the start of the group, or below.
    /// </summary>
    /// <returns>The map page, and the directory page or -1.</returns>
    public (long Map, long Directory) ForgetLastGroup()
    {
        AssertWriterHeld();
        var group = _layout.GroupOf(_pages.PageCount - 1);
        var (map, directory) = (MapPage(group), DirectoryPage(group));
        SetMapPage(group, 0);
        if (group % _layout.NumbersPerPage != 0)
            return (map, -1);
        SetDirectoryPage(group, 0);
        return (map, directory);
    }

    private bool IsMap(long page) => ((PageHeader*)_pages.ReadPage(page))->Kind == PageKind.SectionMap;

    private long Number(long page, int index)
    {
        if (!IsMap(page))
        {
            throw new CorruptionException(
                $"Page {page} of '{_pages.FilePath}' should name pages of the section map, but is of kind {((PageHeader*)_pages.ReadPage(page))->Kind}.");
        }

        return *(long*)(_pages.ReadPage(page) + PageHeader.Size + index * sizeof(long));
    }

    private void SetNumber(long page, int index, long number)
    {
        var writable = _pages.ModifyPage(page);
        var offset = PageHeader.Size + index * sizeof(long);
        *(long*)(writable.Bytes + offset) = number;
        writable.MarkDirty(offset, sizeof(long));
    }

    private void Change(long first, long pages, bool used)
    {
        AssertWriterHeld();
        var end = first + pages;
        while (first < end)
        {
            var section = _layout.SectionOf(first);
            var from = (int)(first % _layout.PagesPerSection);
            var count = (int)Math.Min(end - first, _layout.PagesPerSection - from);
            var writable = _pages.ModifyPage(MapPage(section / _layout.SectionsPerGroup));
            var bitmapOffset = _layout.BitmapOffset(section);
            ChangeBits(writable.Bytes + bitmapOffset, first, from, count, used);
            writable.MarkDirty(bitmapOffset + from / 8, (from + count - 1) / 8 - from / 8 + 1);

            var countOffset = _layout.CountOffset(section);
            *(ushort*)(writable.Bytes + countOffset) += (ushort)(used ? count : PlantedFault.MiscountUsedPages ? 1 - count : -count);
            writable.MarkDirty(countOffset, sizeof(ushort));
            first += count;
        }
    }

    private void ChangeBits(byte* bitmap, long first, int from, int count, bool used)
    {
        for (var bit = from; bit < from + count; bit++)
        {
            if (Bitmap.IsSet(bitmap, bit) == used)
            {
                throw new CorruptionException(
                    $"Page {first + bit - from} of '{_pages.FilePath}' is {(used ? "already in use" : "already free")} in the section map.");
            }

            if (used)
                Bitmap.Set(bitmap, bit);
            else
                Bitmap.Clear(bitmap, bit);
        }
    }
}
