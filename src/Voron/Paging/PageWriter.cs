using Voron.Format;
using Voron.Primitives;

namespace Voron.Paging;

/// <summary>
/// The second contract through which pages are accessed, after <see cref="PageReader"/>: allocating, changing and freeing them in the open
/// write transaction.
/// </summary>
internal abstract unsafe class PageWriter : PageReader
{
    /// <summary>
    /// Makes a page writable: copies it to scratch memory unless this transaction already has it there. The old address stays
    /// readable, with the old content, only until the end of the operation that requested the page.
    /// </summary>
    public abstract WritablePage Modify(PageNumber page);

    /// <summary>Prefetches the memory that finding these pages will read, not the pages themselves. Any page number may be none.</summary>
    public abstract void PrefetchVersions(PageNumber* pages, int count);

    /// <summary>
    /// Does the same as <see cref="PageReader.Peek"/>, but also returns null for a page that this transaction may change in place, since
    /// it will not have to be copied.
    /// </summary>
    public abstract byte* PeekUnlessWritable(PageNumber page);

    /// <summary>Returns the mark that new pages of a tree carry in their headers: <see cref="PageHeader.TreeMark"/>.</summary>
    public abstract uint TreeMark(uint treeId);

    /// <summary>
    /// Allocates a new page near <paramref name="near"/>, zeroed except for its own number and <paramref name="kind"/> in the header.
    /// </summary>
    public abstract WritablePage Allocate(PageKind kind, PageNumber near);

    /// <summary>
    /// Allocates a new extent of overflow pages, contiguous in the file and in memory, for <paramref name="length"/> bytes after the
    /// header. The header is filled in and the content is zeroed.
    /// </summary>
    /// <exception cref="StorageFullException">There is not enough space.</exception>
    public abstract WritablePage AllocateExtent(long length, PageNumber near);

    /// <summary>Makes an extent of this transaction or of an older one writable as a whole.</summary>
    public abstract WritablePage ModifyExtent(PageNumber first);

    /// <summary>Frees a page. Its bytes must not be used after this.</summary>
    public abstract void Free(PageNumber page);

    /// <summary>Frees all pages of an extent.</summary>
    public abstract void FreeExtent(PageNumber first, int pages);
}
