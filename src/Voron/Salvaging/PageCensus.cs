using Voron.Format;
using Voron.IO;
using Voron.Paging;

namespace Voron.Salvaging;

/// <summary>Finds the tree pages that no walk has reached, and those among them that no branch names: the roots of the remains.</summary>
/// <remarks>Costs two bits per page, and a pass over all pages.</remarks>
internal sealed unsafe class PageCensus : IDisposable
{
    private readonly SalvagePages _pages;
    private readonly PageBitmap _owned;
    private readonly PageBitmap _found;
    private readonly PageBitmap _named;
    private readonly SalvagedMap _map;
    private readonly byte* _page;

    /// <param name="pages">The pages.</param>
    /// <param name="owned">The pages that have an owner.</param>
    public PageCensus(SalvagePages pages, PageBitmap owned)
    {
        (_pages, _owned) = (pages, owned);
        _map = new SalvagedMap(pages);
        _found = new PageBitmap(pages.Capacity);
        _named = new PageBitmap(pages.Capacity);
        _page = (byte*)EngineMemory.AllocateAligned((nuint)pages.PageSize, 4096);
        _found.EnsureCommitted(pages.Capacity);
        _named.EnsureCommitted(pages.Capacity);
    }

    /// <summary>Examines all pages without an owner.</summary>
    /// <param name="includeStale">True to include pages that are free, or whose use is unknown.</param>
    /// <param name="stop">Ends the pass.</param>
    public void Take(bool includeStale, CancellationToken stop)
    {
        for (var page = 1L; page < _pages.Capacity; page++)
        {
            if ((page & 1023) == 0)
                stop.ThrowIfCancellationRequested();
            if (_owned.IsSet(page) || !TryRead(page, _page, out var grade) || (grade == SalvageGrade.Stale && !includeStale))
                continue;
            _found.Set(page);
            if (!TreePageView.IsLeaf(_page) && grade == SalvageGrade.Current)
                NoteChildren(_page);
        }
    }

    /// <summary>Returns the found pages that have no owner, and that no page in use names.</summary>
    public IEnumerable<long> Roots()
    {
        foreach (var page in Rest())
        {
            if (!_named.IsSet(page))
                yield return page;
        }
    }

    /// <summary>Returns the found pages that still have no owner.</summary>
    public IEnumerable<long> Rest()
    {
        for (var page = _found.FindSet(0, _pages.Capacity); page >= 0; page = _found.FindSet(page + 1, _pages.Capacity))
        {
            if (!_owned.IsSet(page))
                yield return page;
        }
    }

    /// <summary>Reads a leaf or a branch, and grades it.</summary>
    public bool TryRead(long page, byte* target, out SalvageGrade grade)
    {
        grade = _map.IsUsed(page) == true ? SalvageGrade.Current : SalvageGrade.Stale;
        var version = _pages.FindVersion(page, out var pages, out var isFree);
        if (isFree)
            grade = SalvageGrade.Stale;
        if (version == null)
            return _pages.TryReadTreePage(page, target);
        return pages == 1 && _pages.TryRead(page, target) == null && TreePageView.IsOfTree(((PageHeader*)target)->Kind);
    }

    public void Dispose()
    {
        _map.Dispose();
        _found.Dispose();
        _named.Dispose();
        EngineMemory.FreeAligned(_page);
    }

    private void NoteChildren(byte* branch)
    {
        for (var i = 0; i < TreePageView.Count(branch); i++)
        {
            var child = TreePageView.Child(branch, i, _pages.PageSize);
            if (child > 0 && child < _pages.Capacity)
                _named.Set(child);
        }
    }
}
