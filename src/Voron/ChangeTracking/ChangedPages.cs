using Voron.Format;
using Voron.IO;
using Voron.Paging;

namespace Voron.ChangeTracking;

/// <summary>The pages that have changed between two states: a bit a page.</summary>
internal sealed unsafe class ChangedPages : IDisposable
{
    private readonly PageBitmap _bits;

    /// <param name="pageCount">The number of pages of the newer state. Pages behind them are left out.</param>
    /// <param name="heap">The heap that provides the memory of lists.</param>
    /// <exception cref="InsufficientMemoryException">There is no memory for the bits.</exception>
    public ChangedPages(long pageCount, NativeHeap heap)
    {
        PageCount = pageCount;
        Scratch = new ExtentSet(heap);
        _bits = new PageBitmap(pageCount);
        try
        {
            _bits.EnsureCommitted(pageCount);
        }
        catch
        {
            _bits.Dispose();
            throw;
        }
    }

    public long PageCount { get; }

    /// <summary>A set for the use of the tracker.</summary>
    public ExtentSet Scratch { get; }

    public bool Contains(long page) => _bits.IsSet(page);

    public void Add(ReadOnlySpan<PageExtent> extents)
    {
        foreach (var extent in extents)
        {
            var end = Math.Min(extent.End, PageCount);
            for (var page = extent.First; page < end; page++)
                _bits.Set(page);
        }
    }

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
                // The first page of an extent that was changed stands for all of them.
                if (versions.Find(page, state.TransactionId, out var version) && version.TransactionId > since)
                    Add([new PageExtent(page, Math.Max(1, version.Pages))]);
            }
        }
    }

    public void Dispose()
    {
        Scratch.Dispose();
        _bits.Dispose();
    }
}
