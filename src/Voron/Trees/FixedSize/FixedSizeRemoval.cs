using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Trees.Pages;

namespace Voron.Trees.FixedSize;

/// <summary>Removes all entries in a key range from a fixed-size tree, and frees the pages wholly inside the range.</summary>
/// <remarks>
/// At each level, at most two pages are partly inside the range: those on the paths to its ends. They lose entries or children, and are merged with
/// their neighbours if they are nearly empty. Leaves between them are read only to count their entries, or not at all if the range includes all
/// possible keys. A failure leaves the tree partially changed: the transaction must be rolled back, entirely or to a savepoint.
/// </remarks>
internal unsafe ref struct FixedSizeRemoval
{
    private readonly PageWriter _pages;
    private readonly TreeState _state;
    private readonly long _first;
    private readonly long _last;
    private readonly bool _countsEntries;
    private long _removed;
    private fixed long _path[TreeLimits.MaxDepth];

    private FixedSizeRemoval(PageWriter pages, TreeState state, long first, long last, bool countsEntries)
    {
        _pages = pages;
        _state = state;
        _first = first;
        _last = last;
        _countsEntries = countsEntries;
    }

    /// <summary>Removes the entries from one key to another, both included, and returns their number. Changes nothing if there are none.</summary>
    public static long Delete(PageWriter pages, TreeState state, long first, long last)
    {
        if (first == long.MinValue && last == long.MaxValue)
            return DeleteAll(pages, state);
        if (first > last || FixedSizeReader.FindNear(state, pages, first, 1, out var found) == null || found > last)
            return 0;

        state.PrepareForChange();
        var removal = new FixedSizeRemoval(pages, state, first, last, countsEntries: true);
        var isEmpty = removal.Remove(state.Root, 0, first != long.MinValue, last != long.MaxValue);
        var removed = removal._removed;
        if ((ulong)removed > (ulong)state.EntryCount)
            TreeErrors.ThrowEntries(pages, state.EntryCount);
        state.EntryCount -= removed;
        state.RightmostLeaf = PageNumber.None;
        state.Changed = true;
        if (isEmpty)
        {
            state.SetEmpty();
            return removed;
        }

        FixedSizeMerger.AfterRangeRemoval(pages, state, first);
        FixedSizeMerger.AfterRangeRemoval(pages, state, last);
        return removed;
    }

    /// <summary>Removes every entry, frees every page, and returns the number of removed entries.</summary>
    public static long DeleteAll(PageWriter pages, TreeState state)
    {
        if (state.Root.IsNone)
            return 0;
        var removed = state.EntryCount;
        state.CheckDepth(pages);
        state.PrepareForChange();
        new FixedSizeRemoval(pages, state, 0, 0, countsEntries: false).FreeWhole(state.Root, 0);
        state.RightmostLeaf = PageNumber.None;
        state.Changed = true;
        state.SetEmpty();
        return removed;
    }

    /// <summary>Removes the entries of the range from a page and the pages below it, and frees the page if it becomes empty.</summary>
    /// <param name="page">The page.</param>
    /// <param name="level">Its level; the root is at level 0.</param>
    /// <param name="hasStart">True if the range starts among the keys of the page; false if it starts before them.</param>
    /// <param name="hasEnd">True if the range ends among the keys of the page; false if it ends after them.</param>
    /// <returns>Whether the page was freed.</returns>
    private bool Remove(PageNumber page, int level, bool hasStart, bool hasEnd)
    {
        if (!hasStart && !hasEnd)
        {
            FreeWhole(page, level);
            return true;
        }

        ref readonly var layout = ref _state.Shape(_pages.PageSize).Branch;
        if (level == _state.Depth - 1)
            return RemoveFromLeaf(page, hasStart, hasEnd);

        Enter(page, level);
        var branch = FixedSizePages.ReadBranch(_pages, page);
        var first = hasStart ? ArrayPage.FindChild(branch, layout, _first) : 0;
        var last = hasEnd ? ArrayPage.FindChild(branch, layout, _last) : ArrayPage.Count(branch) - 1;
        int from, to;
        if (first == last)
        {
            from = first;
            to = Remove(ArrayPage.Child(branch, layout, first), level + 1, hasStart, hasEnd) ? first + 1 : first;
        }
        else
        {
            from = Remove(ArrayPage.Child(branch, layout, first), level + 1, hasStart, hasEnd: false) ? first : first + 1;
            for (var i = first + 1; i < last; i++)
                FreeWhole(ArrayPage.Child(branch, layout, i), level + 1);
            to = Remove(ArrayPage.Child(branch, layout, last), level + 1, hasStart: false, hasEnd) ? last + 1 : last;
        }

        if (from >= to)
            return false;
        if (from == 0 && to == ArrayPage.Count(branch))
        {
            Free(page, isLeaf: false);
            return true;
        }

        var writable = _pages.Modify(page);
        ArrayPage.RemoveRange(writable, layout, from, to);
        if (from == 0)
            ArrayPage.SetFirstKey(writable, layout);
        return false;
    }

    private bool RemoveFromLeaf(PageNumber page, bool hasStart, bool hasEnd)
    {
        ref readonly var layout = ref _state.Shape(_pages.PageSize).Leaf;
        var bytes = FixedSizePages.ReadLeaf(_pages, page, layout);
        var from = hasStart ? ArrayPage.CountBelow(bytes, layout, _first) : 0;
        var to = hasEnd ? ArrayPage.CountBelow(bytes, layout, _last + 1) : ArrayPage.Count(bytes);
        if (from >= to)
            return false;
        _removed += PlantedFault.CountWholeLeavesOnly ? 0 : to - from;
        if (from == 0 && to == ArrayPage.Count(bytes))
        {
            Free(page, isLeaf: true);
            return true;
        }

        ArrayPage.RemoveRange(_pages.Modify(page), layout, from, to);
        return false;
    }

    private void FreeWhole(PageNumber page, int level)
    {
        ref readonly var shape = ref _state.Shape(_pages.PageSize);
        Enter(page, level);
        var isLeaf = level == _state.Depth - 1;
        if (!isLeaf)
        {
            var branch = FixedSizePages.ReadBranch(_pages, page);
            for (var i = 0; i < ArrayPage.Count(branch); i++)
                FreeWhole(ArrayPage.Child(branch, shape.Branch, i), level + 1);
        }
        else if (_countsEntries)
        {
            _removed += ArrayPage.Count(FixedSizePages.ReadLeaf(_pages, page, shape.Leaf));
        }

        Free(page, isLeaf);
    }

    private readonly void Free(PageNumber page, bool isLeaf)
    {
        _state.CountFreed(isLeaf);
        _pages.Free(page);
    }

    /// <summary>Records the page at a level. A page below itself would be freed while it is being read.</summary>
    /// <exception cref="CorruptionException">The page also occurs at a level above.</exception>
    private void Enter(PageNumber page, int level)
    {
        for (var above = 0; above < level; above++)
        {
            if (_path[above] == page.Value)
                TreeErrors.ThrowShared(_pages, page);
        }

        _path[level] = page.Value;
    }
}
