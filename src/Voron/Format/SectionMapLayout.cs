using Voron.Primitives;

namespace Voron.Format;

/// <summary>
/// Where the bit of a page is: pages belong to sections of 4 MiB, sections to groups that share a map page, and page 0 leads
/// to the map pages through directory pages.
/// </summary>
/// <remarks>
/// A map page holds, behind the page header, for each section a bitmap (bit i of byte i/8: page i of the section; 1 = used);
/// behind the bitmaps, for each section, a ushort: how many of its pages are used. Root and directory pages hold page numbers,
/// eight bytes each, 0 for none.
/// </remarks>
internal sealed class SectionMapLayout
{
    public const int SectionBytes = 4 << 20;

    /// <summary>The page that names the directory pages.</summary>
    public static readonly PageNumber RootPage = new(0);

    public SectionMapLayout(int pageSize)
    {
        PageSize = pageSize;
        PagesPerSection = SectionBytes / pageSize;
        BitmapBytes = PagesPerSection / 8;
        SectionsPerGroup = (pageSize - PageHeader.Size) / (BitmapBytes + sizeof(ushort));
        PagesPerGroup = (long)SectionsPerGroup * PagesPerSection;
        NumbersPerPage = (pageSize - PageHeader.Size) / sizeof(long);
        CountsOffset = PageHeader.Size + SectionsPerGroup * BitmapBytes;
        MaxPageCount = Math.Min(PagesPerGroup * NumbersPerPage * NumbersPerPage, uint.MaxValue);
    }

    public int PageSize { get; }

    public int PagesPerSection { get; }

    public int BitmapBytes { get; }

    public int SectionsPerGroup { get; }

    public long PagesPerGroup { get; }

    /// <summary>How many page numbers a root or directory page holds.</summary>
    public int NumbersPerPage { get; }

    /// <summary>Offset in a map page of the counts of used pages.</summary>
    public int CountsOffset { get; }

    /// <summary>The most pages that an environment of this page size can have.</summary>
    public long MaxPageCount { get; }

    public long GroupOf(long page) => page / PagesPerGroup;

    public long SectionOf(long page) => page / PagesPerSection;

    /// <summary>Offset in the group's map page of the section's bitmap.</summary>
    public int BitmapOffset(long section) => PageHeader.Size + (int)(section % SectionsPerGroup) * BitmapBytes;

    /// <summary>Offset in the group's map page of the section's count.</summary>
    public int CountOffset(long section) => CountsOffset + (int)(section % SectionsPerGroup) * sizeof(ushort);
}
