using Voron.Format;
using Voron.Primitives;

namespace Voron.Trees;

/// <summary>The first of the two contracts through which trees access pages: reading.</summary>
internal abstract unsafe class PageReader
{
    /// <summary>The key heads beside data-file pages; null where only the pages themselves are to be read.</summary>
    public DataFileKeyHeads? DataFileKeyHeads { get; protected init; }

    /// <summary>The number of searches that found the place of their page's key heads taken by another page.</summary>
    public uint KeyHeadMisses { get; set; }

    /// <summary>The size of a page in bytes: a power of two from 4096 to 65536.</summary>
    public abstract int PageSize { get; }

    /// <summary>The number of pages that exist: a tree cannot have more.</summary>
    public virtual long PageCount => uint.MaxValue;

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

    /// <summary>
    /// Returns a part of a value that is stored in an extent without headers. Only the requested part is verified; it is valid as long as
    /// a page is.
    /// </summary>
    /// <exception cref="CorruptionException">The part is damaged, or the reference leads nowhere.</exception>
    public abstract ReadOnlySpan<byte> ReadLarge(in LargeExtentReference reference, long offset, int count);
}

/// <summary>A page that may be changed in place until the transaction's next savepoint or end.</summary>
/// <remarks>
/// Code that changes bytes must mark them: the journal compares marked 64-byte lines only. One bit represents a 64th of the page.
/// Pages that are new in the transaction are journaled in full; marking them does no harm.
/// </remarks>
internal readonly unsafe struct WritablePage
{
    private readonly ulong* _dirtyLines;
    private readonly int _lineShift;

    public WritablePage(byte* bytes, ulong* dirtyLines, int lineShift)
    {
        Bytes = bytes;
        _dirtyLines = dirtyLines;
        _lineShift = lineShift;
    }

    public readonly byte* Bytes;

    public PageHeader* Header => (PageHeader*)Bytes;

    /// <summary>Marks bytes from <paramref name="offset"/> on that are about to change or have changed. Length 0 marks nothing.</summary>
    public void MarkDirty(int offset, int length)
    {
        if (length <= 0)
            return;

        var first = offset >> _lineShift;
        var last = (offset + length - 1) >> _lineShift;
        *_dirtyLines |= (ulong.MaxValue >> (63 - (last - first))) << first;
    }
}

/// <summary>The second contract: allocating, changing and freeing pages in the open write transaction.</summary>
internal abstract unsafe class PageWriter : PageReader
{
    /// <summary>
    /// Makes a page writable: copies it to scratch memory unless this transaction already has it there. The old address stays
    /// readable, with the old content, only until the end of the operation that requested the page.
    /// </summary>
    public abstract WritablePage Modify(PageNumber page);

    /// <summary>The key heads beside the branches, as this transaction has changed them.</summary>
    public abstract BranchKeyHeads BranchKeyHeads { get; }

    /// <summary>Prefetches the memory that finding these pages will read, not the pages themselves. Any number may be none.</summary>
    public abstract void PrefetchVersions(PageNumber* pages, int count);

    /// <summary>
    /// Does the same as <see cref="PageReader.Peek"/>, but also returns null for a page that this transaction may change in place, since
    /// it will not have to be copied.
    /// </summary>
    public abstract byte* PeekUnlessWritable(PageNumber page);

    /// <summary>
    /// Allocates a new page near <paramref name="near"/>, zeroed except for its own number and <paramref name="kind"/> in the header.
    /// </summary>
    public abstract WritablePage Allocate(PageKind kind, PageNumber near);

    /// <summary>
    /// Allocates a new extent of overflow pages, contiguous in the file and in memory, for <paramref name="length"/> bytes after the
    /// header. The header is filled in and the content is zeroed.
    /// </summary>
    /// <exception cref="StorageFullException">There is no room.</exception>
    public abstract WritablePage AllocateExtent(long length, PageNumber near);

    /// <summary>Makes an extent of this transaction or of an older one writable as a whole.</summary>
    public abstract WritablePage ModifyExtent(PageNumber first);

    /// <summary>Frees a page. Its bytes must not be used after this.</summary>
    public abstract void Free(PageNumber page);

    /// <summary>Frees all pages of an extent.</summary>
    public abstract void FreeExtent(PageNumber first, int pages);
}
