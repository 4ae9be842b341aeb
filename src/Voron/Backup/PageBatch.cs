using System.Diagnostics;
using Voron.Format;

namespace Voron.Backup;

/// <summary>Page copies on their way to a backup: at most 1 MiB, in runs of adjacent pages.</summary>
/// <remarks>
/// The memory before the pages is reserved for the extents and the frame header, so that the whole frame can be written from contiguous memory.
/// </remarks>
internal sealed unsafe class PageBatch
{
    /// <summary>The offset of the first page in <see cref="Buffer"/>.</summary>
    public const int PagesOffset = BackupHeader.BlockBytes;

    private readonly int _pageSize;
    private readonly List<BackupExtent> _extents = [];

    private readonly int _maxPages;

    /// <param name="pageSize">The size of a page in bytes.</param>
    /// <param name="maxPageBytes">The most bytes of pages.</param>
    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public PageBatch(int pageSize, int maxPageBytes)
    {
        _pageSize = pageSize;
        _maxPages = Math.Max(1, maxPageBytes / pageSize);
        Buffer = new AlignedBuffer(PagesOffset + _maxPages * pageSize);
    }

    public AlignedBuffer Buffer { get; }

    public List<BackupExtent> Extents => _extents;

    public int Pages { get; private set; }

    public int PageBytes => Pages * _pageSize;

    /// <summary>The number of pages that still fit.</summary>
    public int Room => _extents.Count == BackupFrame.MaxExtents ? 0 : _maxPages - Pages;

    /// <summary>The address of the next page to be added.</summary>
    public byte* Next => Buffer.Address + PagesOffset + PageBytes;

    /// <summary>Adds pages whose content has been copied to <see cref="Next"/>.</summary>
    public void Add(long firstPage, int pages)
    {
        Debug.Assert(pages > 0 && pages <= Room, "Pages must fit.");
        Pages += pages;
        if (_extents.Count > 0 && _extents[^1] is var last && last.FirstPage + last.Pages == firstPage)
            _extents[^1] = last with { Pages = last.Pages + pages };
        else
            _extents.Add(new BackupExtent { FirstPage = firstPage, Pages = pages });
    }

    public void Clear()
    {
        _extents.Clear();
        Pages = 0;
    }
}
