using Voron.Format;
using Voron.Primitives;

namespace Voron.Trees;

/// <summary>The first of the two contracts through which trees see pages: reading.</summary>
internal abstract unsafe class PageReader
{
    /// <summary>Heads beside the pages of the data file; null where pages are to be read and nothing else.</summary>
    public DataFileKeyHeads? DataFileKeyHeads { get; protected init; }

    /// <summary>Searches that found the place of their page's heads taken by another page.</summary>
    public uint KeyHeadMisses { get; set; }

    /// <summary>The size of a page in bytes: a power of two from 4096 to 65536.</summary>
    public abstract int PageSize { get; }

    /// <summary>How many pages there are: a tree cannot have more.</summary>
    public virtual long PageCount => uint.MaxValue;

    /// <summary>
    /// The content of a page as this transaction sees it: verified, and valid until the transaction ends, or in a write
    /// transaction until its next change to that page. For the first page of a run, all pages of the run follow in memory.
    /// </summary>
    /// <exception cref="CorruptionException">The page on disk is damaged, or not the one asked for.</exception>
    public abstract byte* Read(PageNumber page);

    /// <summary>
    /// Where the content of a page is, without a look at it: for prefetching only. Null when there is no such page.
    /// </summary>
    public abstract byte* Peek(PageNumber page);

    /// <summary>
    /// Where a page is in the data file, when that is what this transaction sees of it; null when it sees a version, or no such
    /// page. It may not have been verified.
    /// </summary>
    public virtual byte* DataFilePage(PageNumber page) => null;

    /// <summary>Asks for what <see cref="DataFilePage"/> will read.</summary>
    public virtual void PrefetchDataFilePage(PageNumber page)
    {
    }

    /// <summary>
    /// A part of a value that stands in a run without headers, verified as far as it is asked for; valid as long as a page.
    /// </summary>
    /// <exception cref="CorruptionException">The part is damaged, or the reference leads nowhere.</exception>
    public abstract ReadOnlySpan<byte> ReadLarge(in LargeExtentReference reference, long offset, int count);
}

/// <summary>A page that may be changed in place, until the transaction's next savepoint or end.</summary>
/// <remarks>
/// Whoever changes bytes marks them: the journal compares marked 64-byte lines only. One bit stands for a 64th of the page.
/// Pages that are new in the transaction are journaled whole; marking them does no harm.
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

    /// <summary>Says that bytes from <paramref name="offset"/> on are about to change, or have. Length 0 marks nothing.</summary>
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
    /// The page, writable: copied to scratch memory unless this transaction has it there already. The old address stays
    /// readable, with the old content, only until the end of the call that asked.
    /// </summary>
    public abstract WritablePage Modify(PageNumber page);

    /// <summary>Heads beside the branches as this transaction has made them.</summary>
    public abstract BranchKeyHeads BranchKeyHeads { get; }

    /// <summary>Asks for what finding these pages will read, not for the pages. Numbers may be none.</summary>
    public abstract void PrefetchVersions(PageNumber* pages, int count);

    /// <summary>
    /// As <see cref="PageReader.Peek"/>; null for a page too that this transaction may change where it is, since nothing will
    /// have to be copied.
    /// </summary>
    public abstract byte* PeekUnlessWritable(PageNumber page);

    /// <summary>
    /// A new page near <paramref name="near"/>: zeroed but for its own number and <paramref name="kind"/> in the header.
    /// </summary>
    public abstract WritablePage Allocate(PageKind kind, PageNumber near);

    /// <summary>
    /// A new run of overflow pages, one behind the other in file and memory, for <paramref name="length"/> bytes behind the
    /// header; header filled, content zeroed.
    /// </summary>
    /// <exception cref="StorageFullException">There is no room.</exception>
    public abstract WritablePage AllocateExtent(long length, PageNumber near);

    /// <summary>A run of this transaction or of an older one, writable as a whole.</summary>
    public abstract WritablePage ModifyExtent(PageNumber first);

    /// <summary>Frees a page. Its bytes must not be used after this.</summary>
    public abstract void Free(PageNumber page);

    /// <summary>Frees all pages of a run.</summary>
    public abstract void FreeExtent(PageNumber first, int pages);
}
