using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Arrays;
using Voron.Trees.IdSets;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>Moves the pages of a set for a compaction, and changes what refers to them: an array page, or the record of the set.</summary>
/// <remarks>The set is whole after each page: a call may stop anywhere, and be repeated.</remarks>
internal unsafe ref struct IdSetMover
{
    private readonly PageWriter _pages;
    private readonly IPageMover _mover;
    private readonly IdSetMarks _marks;
    private readonly ArrayLayout _layout;
    private readonly long _limit;
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
    }

    /// <summary>Moves the pages of a set that should be moved.</summary>
    /// <param name="pages">The pages.</param>
    /// <param name="state">The tree.</param>
    /// <param name="leaf">The leaf that has the record of the set.</param>
    /// <param name="index">The index of the record, which is an <see cref="IdSetReference"/>.</param>
    /// <param name="mover">Moves a page.</param>
    /// <returns>False if a page found no place, so that some have not been moved.</returns>
    public static bool TryMove(PageWriter pages, TreeState state, PageNumber leaf, int index, IPageMover mover)
    {
        var source = SlottedPage.Record(pages.Read(leaf), index);
        var set = *(IdSetReference*)LeafPage.InlineBytes(source);
        if (set.Depth is 0 or > IdSetReference.MaxDepth)
            IdSetErrors.ThrowDepth(pages, set.Depth);
        state.PrepareForChange();
        var move = new IdSetMover(pages, mover, IdSetMarks.Of(pages, state.TreeId, LeafPage.Key(source)), set);
        var isDone = move.TryMove(new PageNumber(set.Root), set.Depth, out var root);
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

    private bool TryMove(PageNumber page, int depth, out PageNumber moved)
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
                return false;
            }

            if (_set.LastPage == (uint)page.Value)
                _set.LastPage = (uint)moved.Value;
        }

        return depth == 1 || TryMoveChildren(moved, depth);
    }

    private bool TryMoveChildren(PageNumber branch, int depth)
    {
        var isDone = true;
        for (var i = 0; isDone && i < ArrayPage.Count(_pages.Read(branch)); i++)
        {
            var child = ArrayPage.Child(_pages.Read(branch), _layout, i);

            // Id pages that stay where they are need not be read.
            if (depth == 2 && !_mover.ShouldMove(child, 1))
                continue;
            isDone = TryMove(child, depth - 1, out var moved);
            if (moved == child)
                continue;
            _mover.Verify(branch);
            ArrayPage.SetChild(_pages.Modify(branch), _layout, i, moved);
        }

        return isDone;
    }
}
