using Voron.Format;
using Voron.FreeSpace;
using Voron.IO;

namespace Voron.Salvaging;

/// <summary>Shows whether a page is in use, according to the intact section maps.</summary>
/// <param name="pages">The pages.</param>
internal sealed unsafe class SalvagedMap(SalvagePages pages) : IDisposable
{
    private readonly SectionMapLayout _layout = new(pages.PageSize);
    private readonly byte* _map = (byte*)EngineMemory.AllocateAligned((nuint)pages.PageSize, 4096);
    private readonly byte* _names = (byte*)EngineMemory.AllocateAligned((nuint)pages.PageSize, 4096);
    private long _group = -1;
    private bool _isKnown;

    /// <summary>Returns whether a page is in use; null if its map is lost.</summary>
    public bool? IsUsed(long page)
    {
        if (page >= pages.State.PageCount)
            return false;
        var group = _layout.GroupOf(page);
        if (group != _group)
        {
            _group = group;
            _isKnown = TryLoad(group);
        }

        if (!_isKnown)
            return null;
        var section = _layout.SectionOf(page);
        return Bitmap.IsSet(_map + _layout.BitmapOffset(section), (int)(page % _layout.PagesPerSection));
    }

    public void Dispose()
    {
        EngineMemory.FreeAligned(_map);
        EngineMemory.FreeAligned(_names);
    }

    private bool TryLoad(long group)
    {
        var root = SectionMapLayout.RootPage.Value;
        return TryRead(root, _names) && TryRead(NumberAt(group / _layout.NumbersPerPage), _names)
            && TryRead(NumberAt(group % _layout.NumbersPerPage), _map);
    }

    // 0 means no page.
    private long NumberAt(long index)
    {
        var number = index < _layout.NumbersPerPage ? ((long*)(_names + PageHeader.Size))[index] : 0;
        return number == 0 ? -1 : number;
    }

    private bool TryRead(long page, byte* target) =>
        page >= 0 && page < pages.Capacity && pages.TryRead(page, target) == null && ((PageHeader*)target)->Kind == PageKind.SectionMap;
}
