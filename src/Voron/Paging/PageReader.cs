using Voron.Format;
using Voron.Primitives;

namespace Voron.Paging;

/// <summary>The first of the two contracts through which pages are accessed: reading. The second is <see cref="PageWriter"/>.</summary>
internal abstract unsafe class PageReader
{
    /// <summary>The size of a page in bytes: a power of two from 4096 to 65536.</summary>
    public abstract int PageSize { get; }

    /// <summary>The path of the file that holds the pages, for messages.</summary>
    public abstract string FilePath { get; }

    /// <summary>The history that the pages belong to.</summary>
    public virtual Lineage Lineage => default;

    /// <summary>The number of pages that exist: a tree cannot have more.</summary>
    public virtual long PageCount => uint.MaxValue;

    /// <summary>Decompresses values; null where no compressed values can be read.</summary>
    public virtual ValueUnpacker? Unpacker => null;

    /// <summary>
    /// Returns the content of a page as this transaction sees it: verified, and valid until the transaction ends or, in a write
    /// transaction, until its next change to that page. For the first page of an extent, all pages of the extent follow in memory.
    /// </summary>
    /// <exception cref="CorruptionException">The page on disk is damaged, or not the one requested.</exception>
    public abstract byte* Read(PageNumber page);

    /// <summary>
    /// Returns the address of a page's content without reading it: for prefetching only. Null when there is no such page.
    /// </summary>
    public abstract byte* Peek(PageNumber page);

    /// <summary>
    /// Returns the address of a page in the data file if this transaction sees that content; null when it sees a version, or when there
    /// is no such page. The page might not have been verified.
    /// </summary>
    public virtual byte* DataFilePage(PageNumber page) => null;

    /// <summary>Prefetches the memory that <see cref="DataFilePage"/> will read.</summary>
    public virtual void PrefetchDataFilePage(PageNumber page)
    {
    }

    /// <summary>Notes that a scan has reached a page adjacent to the previous one in the data file, as the next ones may be.</summary>
    /// <param name="page">The page.</param>
    /// <param name="step">1 if the scan moves toward higher pages, otherwise -1.</param>
    public virtual void ScanAhead(PageNumber page, int step)
    {
    }

    /// <summary>
    /// Returns a part of a value that is stored in an extent without headers. Only the requested part is verified; it is valid as long as
    /// a page is.
    /// </summary>
    /// <exception cref="CorruptionException">The part is damaged, or the reference is invalid.</exception>
    public abstract ReadOnlySpan<byte> ReadLarge(scoped in LargeExtentReference reference, long offset, int count);
}
