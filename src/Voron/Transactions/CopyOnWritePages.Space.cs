using System.Runtime.InteropServices;
using Voron.Format;
using Voron.FreeSpace;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Trees.Pages;

namespace Voron.Transactions;

/// <content>The transaction's services for the section maps, whose pages are like any others, and for moving pages.</content>
internal sealed unsafe partial class CopyOnWritePages
{
    /// <summary>The layout of the section maps.</summary>
    public SectionMapLayout Layout => _engine.Layout;

    long ISpacePages.PageCount
    {
        get => _state.PageCount;
        set => _state.PageCount = value;
    }

    byte* ISpacePages.ReadPage(long page) => Read(new PageNumber(page));

    WritablePage ISpacePages.ModifyPage(long page) => Modify(new PageNumber(page));

    WritablePage ISpacePages.AddPage(long page, PageKind kind) => AddPage(page, kind);

    void ISpacePages.AssertWriterHeld() => _engine.AssertWriterHeld();

    bool ISpacePages.HasVersion(long page) => page < _versions.PageCapacity && _versions.HasVersion(page);

    void ISpacePages.EnsureBlocks(long firstPage, long pages) => Holes.Fill(firstPage, pages);

    bool ISpacePages.HasHoles(long firstPage, long pages) => Holes.HasAny(firstPage, pages);

    ulong* ISpacePages.Holes(long section) => Holes.Bits(section);

    void ISpacePages.EnsureCapacity(long pageCount) => _growth.EnsureCapacity(pageCount);

    /// <summary>Copies a page to a free page that has been taken. The caller updates the references, and frees the original page.</summary>
    /// <exception cref="CorruptionException">The page is damaged.</exception>
    public void CopyPage(long from, long to)
    {
        _ownVersions.ThrowIfTooLarge(PageSize);
        VerifyAgain(from);
        _engine.Counters.AllocatedPages++;
        var source = Read(new PageNumber(from));
        var copy = AddPage(to, ((PageHeader*)source)->Kind);
        NativeMemory.Copy(source, copy.Bytes, (nuint)PageSize);
        copy.Header->PageNumber = to;
    }

    /// <summary>Takes reserved pages that a bulk load has written: pages of trees and of values, which are durable.</summary>
    public void TakeLoaded(long first, long pages)
    {
        _engine.Counters.AllocatedPages += pages;
        _space.TakeReserved(first, PlantedFault.AdoptUntaken && pages > 1 ? pages - 1 : pages);

        // Recorded as a value without bytes: a replay leaves the pages as they are in the data file.
        AddDirectExtent(new TransactionExtent(first, checked((uint)pages), default, FreedAtStamp: -1, IsDurable: true));
    }

    /// <summary>Returns the number of pages of an overflow extent.</summary>
    public int ExtentPages(PageNumber first) => (int)((PageHeader*)Read(first))->ExtentPages;

    /// <summary>Copies an overflow extent to free pages that have been taken. The caller updates the references, and frees the original.</summary>
    /// <exception cref="CorruptionException">The extent is damaged.</exception>
    public void CopyExtent(long from, long to)
    {
        VerifyAgain(from);
        var source = (PageHeader*)Read(new PageNumber(from));
        var pages = TreeLimits.OverflowPages(PageSize, source->ExtentBytes);
        _ownVersions.ThrowIfTooLarge((long)pages << _pageShift);
        _engine.Counters.AllocatedPages += pages;
        var copy = AddExtent(to, pages, source->ExtentBytes);
        NativeMemory.Copy(source + 1, copy.Header + 1, (nuint)source->ExtentBytes);
    }

    /// <summary>
    /// Verifies a page of the data file on the device, even if it has been verified before: it may have decayed since, and its copy would receive
    /// a correct checksum. Does nothing for a page with a version.
    /// </summary>
    /// <exception cref="CorruptionException">The page is damaged.</exception>
    public void VerifyAgain(long page)
    {
        if (!_versions.HasVersion(page))
            _dataFile.Verify(page);
    }
}
