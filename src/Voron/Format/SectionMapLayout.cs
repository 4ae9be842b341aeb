using Voron.Primitives;

namespace Voron.Format;

/// <summary>
/// Locates the bit of a page: pages belong to sections of 4 MiB, sections to groups that share a map page, and page 0 leads to the map
/// pages through directory pages.
/// </summary>
/// <remarks>
/// A map page holds, after the page header, a bitmap for each section (bit i of byte i/8: page i of the section; 1 = used), and after the bitmaps a
/// ushort for each section: the number of its used pages. Root and directory pages hold page numbers, eight bytes each, 0 for none.
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

    /// <summary>The number of page numbers in a root or directory page.</summary>
    public int NumbersPerPage { get; }

    /// <summary>The offset in a map page of the counts of used pages.</summary>
    public int CountsOffset { get; }

    /// <summary>The maximum number of pages in an environment of this page size.</summary>
    public long MaxPageCount { get; }

    public long GroupOf(long page) => page / PagesPerGroup;

    public long SectionOf(long page) => page / PagesPerSection;

    /// <summary>Returns the offset of the section's bitmap in the group's map page.</summary>
    public int BitmapOffset(long section) => PageHeader.Size + (int)(section % SectionsPerGroup) * BitmapBytes;

    /// <summary>Returns the offset of the section's count in the group's map page.</summary>
    public int CountOffset(long section) => CountsOffset + (int)(section % SectionsPerGroup) * sizeof(ushort);
}
