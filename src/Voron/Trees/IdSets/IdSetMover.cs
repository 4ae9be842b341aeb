using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Pages;

namespace Voron.Trees.IdSets;

/// <summary>Moves the pages of a set during a compaction, and updates the references to them in array pages and in the record of the set.</summary>
/// <remarks>
/// The set is consistent after each page, so a call may stop anywhere and be repeated. The next call continues at the page that found no place, which
/// <see cref="IPageMover.SetPlace"/> records, even if the set has changed since.
/// </remarks>
internal unsafe ref struct IdSetMover
{
    private readonly PageWriter _pages;
    private readonly IPageMover _mover;
    private readonly IdSetMarks _marks;
    private readonly ArrayLayout _layout;
    private readonly long _limit;
    private readonly long _from;
    private IdSetReference _set;
    private long _visited;

    private IdSetMover(PageWriter pages, IPageMover mover, in IdSetMarks marks, in IdSetReference set)
    {
        _pages = pages;
        _mover = mover;
        _marks = marks;
        _layout = ArrayLayout.OfBranches(pages.PageSize);
        _set = set;
        _limit = set.Pages;
        _from = mover.SetPlace.Set == marks ? mover.SetPlace.Id : 0;
    }

    /// <summary>Moves the pages of a set that should be moved.</summary>
    /// <param name="pages">The pages.</param>
    /// <param name="state">The tree.</param>
    /// <param name="leaf">The leaf that contains the record of the set.</param>
    /// <param name="index">The index of the record, which is an <see cref="IdSetReference"/>.</param>
    /// <param name="mover">Moves a page.</param>
    /// <returns>False if a page found no place, so that some pages have not been moved.</returns>
    public static bool TryMove(PageWriter pages, TreeState state, PageNumber leaf, int index, IPageMover mover)
    {
        var source = SlottedPage.Record(pages.Read(leaf), index);
        var set = *(IdSetReference*)LeafPage.InlineBytes(source);
        IdSetErrors.CheckShape(pages, set);
        state.PrepareForChange();
        var move = new IdSetMover(pages, mover, IdSetMarks.Of(pages, state.TreeId, LeafPage.Key(source)), set);
        var isDone = move.TryMove(new PageNumber(set.Root), set.Depth, 0, out var root);
        if (isDone)
            mover.SetPlace = default;
        if (root.Value == set.Root && move._set.LastPage == set.LastPage)
            return isDone;

        mover.Verify(leaf);
        var writable = pages.Modify(leaf);
        var record = (IdSetReference*)LeafPage.InlineBytes(SlottedPage.Record(writable.Bytes, index));
        record->Root = (uint)root.Value;
        record->LastPage = move._set.LastPage;
        writable.MarkDirty((int)((byte*)record - writable.Bytes), IdSetReference.Size);
        return isDone;
    }

    /// <summary>Moves a page and its descendants as needed, skipping pages for ids below the place where the last call ended.</summary>
    /// <param name="page">The page.</param>
    /// <param name="depth">The number of levels from this page down, itself included.</param>
    /// <param name="lowest">The lowest id that the page may contain.</param>
    /// <param name="moved">The number of the page after the call, whether it moved or not.</param>
    private bool TryMove(PageNumber page, int depth, long lowest, out PageNumber moved)
    {
        moved = page;
        if (++_visited > _limit)
            IdSetErrors.ThrowShared(_pages, page);
        _marks.Check(_pages, depth > 1 ? IdSetPath.ReadBranch(_pages, page) : IdPage.Read(_pages, page), page);
        if (_mover.ShouldMove(page, 1))
        {
            if (!_mover.TryMove(page, out moved))
            {
                moved = page;
                _mover.SetPlace = new IdSetPlace(_marks, lowest);
                return false;
            }

            if (_set.LastPage == (uint)page.Value)
                _set.LastPage = (uint)moved.Value;
        }

        return depth == 1 || TryMoveChildren(moved, depth, lowest);
    }

    private bool TryMoveChildren(PageNumber branch, int depth, long lowest)
    {
        var isDone = true;
        var first = lowest < _from ? ArrayPage.FindChild(_pages.Read(branch), _layout, _from) : 0;
        for (var i = first; isDone && i < ArrayPage.Count(_pages.Read(branch)); i++)
        {
            var child = ArrayPage.Child(_pages.Read(branch), _layout, i);

            // Id pages that stay in place need not be read.
            if (depth == 2 && !_mover.ShouldMove(child, 1))
                continue;
            var from = i == 0 ? lowest : ArrayPage.Key(_pages.Read(branch), _layout, i);
            isDone = TryMove(child, depth - 1, from, out var moved);
            if (moved == child)
                continue;
            _mover.Verify(branch);
            ArrayPage.SetChild(_pages.Modify(branch), _layout, i, moved);
        }

        return isDone;
    }
}
