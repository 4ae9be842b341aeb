using Voron.Format;
using Voron.Primitives;
using Voron.Trees;

namespace Voron.Tests.Trees.IdSets;

/// <summary>Moves the pages that were in the tail at the beginning, as many as it is allowed.</summary>
internal sealed unsafe class FakeMover(FakePages pages, long tail) : IPageMover
{
    // Freed pages are used again at once, so that page numbers alone do not say which page has been moved.
    private readonly HashSet<long> _pages = [.. Enumerable.Range(0, (int)pages.PageLimit).Select(page => (long)page).Where(page => page >= tail)];

    public int Left { get; set; } = int.MaxValue;

    public int Moved { get; private set; }

    /// <summary>The number of pages about which was asked.</summary>
    public int Asked { get; private set; }

    public IdSetPlace SetPlace { get; set; }

    public bool ShouldMove(PageNumber first, long count)
    {
        Asked++;
        return _pages.Contains(first.Value);
    }

    public bool TryMove(PageNumber page, out PageNumber moved)
    {
        moved = PageNumber.None;
        if (Left-- == 0)
            return false;
        var source = pages.Read(page);
        var target = pages.Allocate(((PageHeader*)source)->Kind, PageNumber.None);
        moved = new PageNumber(target.Header->PageNumber);
        new ReadOnlySpan<byte>(source, pages.PageSize).CopyTo(new Span<byte>(target.Bytes, pages.PageSize));
        target.Header->PageNumber = moved.Value;
        pages.Free(page);
        _pages.Remove(page.Value);
        Moved++;
        return true;
    }

    public void Verify(PageNumber page) => pages.Read(page);

    public bool TryMoveExtent(PageNumber first, out PageNumber moved) => throw new NotSupportedException();
}
