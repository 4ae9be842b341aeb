using Voron.Format;
using Voron.IO;
using Voron.Paging;

namespace Voron.ChangeTracking;

/// <summary>The pages that have changed between two states: one bit per page.</summary>
internal sealed unsafe class ChangedPages : IDisposable
{
    private readonly PageBitmap _bits;

    /// <param name="pageCount">The number of pages of the newer state. Later pages are left out.</param>
    /// <param name="heap">The heap that provides the memory of lists.</param>
    /// <exception cref="InsufficientMemoryException">There is no memory for the bits.</exception>
    public ChangedPages(long pageCount, NativeHeap heap)
        : this(pageCount, pageCount, heap)
    {
    }

    /// <param name="pageCount">The number of pages of the newer state.</param>
    /// <param name="maxPageCount">The maximum number of pages for <see cref="Grow"/>.</param>
    /// <param name="heap">The heap that provides the memory of lists.</param>
    /// <inheritdoc cref="ChangedPages(long, NativeHeap)"/>
    public ChangedPages(long pageCount, long maxPageCount, NativeHeap heap)
    {
        Scratch = new ExtentSet(heap);
        _bits = new PageBitmap(maxPageCount);
        try
        {
            Grow(pageCount);
        }
        catch
        {
            _bits.Dispose();
            throw;
        }
    }

    public long PageCount { get; private set; }

    /// <summary>A set for the use of the tracker.</summary>
    public ExtentSet Scratch { get; }

    /// <summary>Called for adjacent pages that are added; null for no call.</summary>
    public Action<long, long>? Added { get; init; }

    /// <summary>A bit for each page.</summary>
    public PageBitmap Bits => _bits;

    public bool Contains(long page) => _bits.IsSet(page);

    /// <summary>Extends the set to the pages of a newer state.</summary>
    /// <exception cref="InsufficientMemoryException">There is no memory for the bits.</exception>
    public void Grow(long pageCount)
    {
        _bits.EnsureCommitted(pageCount);
        PageCount = Math.Max(PageCount, pageCount);
    }

    public void Add(ReadOnlySpan<PageExtent> extents)
    {
        foreach (var extent in extents)
            Add(extent);
    }

    /// <summary>Adds those pages of an extent that exist.</summary>
    public void Add(in PageExtent extent)
    {
        var pages = Math.Min(extent.End, PageCount) - extent.First;
        if (pages <= 0)
            return;
        _bits.Set(extent.First, pages);
        Added?.Invoke(extent.First, pages);
    }

    /// <summary>Adds adjacent pages that have not changed. <see cref="Added"/> is not called.</summary>
    public void AddUnchanged(long first, long pages) => _bits.Set(first, pages);

    /// <summary>Returns 64 pages, a bit each, the lowest first.</summary>
    public ulong Word(long word) => _bits.Word(word);

    /// <summary>Adds some of 64 pages, a bit each, the lowest first. <see cref="Added"/> is not called.</summary>
    public void SetWord(long word, ulong bits) => _bits.SetWord(word, bits);

    public void Remove(long first, long pages) => _bits.Clear(first, pages);

    /// <summary>Returns the first page of the set from one on; -1 if there is none.</summary>
    public long Next(long page) => _bits.FindSet(page, PageCount);

    /// <summary>The number of pages in the set.</summary>
    public long Count() => _bits.CountSet(PageCount);

    /// <summary>Adds the pages that have a version after one state, and up to another that is registered.</summary>
    public void AddVersions(VersionTable versions, long since, in EnvironmentState state)
    {
        var pageCount = Math.Min(Math.Min(state.PageCount, PageCount), versions.PageCapacity);
        for (var stretch = 0L; stretch * VersionTable.PagesPerStretch < pageCount; stretch++)
        {
            if (versions.ChainsInStretch(stretch) == 0)
                continue;
            var end = Math.Min(pageCount, (stretch + 1) * VersionTable.PagesPerStretch);
            for (var page = stretch * VersionTable.PagesPerStretch; page < end; page++)
            {
                // The first page of an extent that was changed represents all of them.
                if (versions.Find(page, state.TransactionId, out var version) && version.TransactionId > since)
                    Add(new PageExtent(page, Math.Max(1, version.Pages)));
            }
        }
    }

    public void Dispose()
    {
        Scratch.Dispose();
        _bits.Dispose();
    }
}
