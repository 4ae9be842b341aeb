using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>Removes all entries in a key range, and frees the pages wholly inside the range.</summary>
/// <remarks>
/// <para>
/// At each level, at most two pages are partly inside the range: those on the paths to its start and to its end. They lose entries or children,
/// and are merged with their neighbours if they are nearly empty. All pages between them are freed.
/// </para>
/// <para>
/// A branch contains the page numbers of its leaves, but neither their entry counts nor whether any of their values has an extent. Therefore:
/// 1. If the tree has extents, leaves are read before they are freed, since the extents must be freed too.
/// 2. Otherwise, leaves are read only to count entries (<see cref="RangeCounter"/>): those inside the range or those outside, whichever are
///    fewer. Deleting everything, or nearly everything, thus reads almost nothing.
/// </para>
/// <para>A failure leaves the tree partially changed: the transaction must be rolled back, entirely or to a savepoint.</para>
/// </remarks>
internal unsafe ref struct RangeRemoval
{
    private const int StackBytes = 2048;

    private readonly PageWriter _pages;
    private readonly TreeState _state;
    private readonly SearchKey _start;
    private readonly SearchKey _end;
    private readonly bool _hasStart;
    private readonly bool _hasEnd;
    private readonly bool _hasExtents;
    private long _removed;
    private fixed long _path[TreeLimits.MaxDepth];

    private RangeRemoval(PageWriter pages, TreeState state, in SearchKey start, in SearchKey end, bool hasEnd)
    {
        _pages = pages;
        _state = state;
        _start = start;
        _end = end;

        // No key sorts before a single zero byte.
        _hasStart = start.Length > 1 || start.Bytes[0] != 0;
        _hasEnd = hasEnd;
        _hasExtents = state.HasMoreThanLeaves;
    }

    /// <summary>Removes the entries between two places, and returns their number. Changes nothing if there are none.</summary>
    /// <param name="pages">The pages of the tree.</param>
    /// <param name="state">The tree.</param>
    /// <param name="start">The place before the first entry. Its bytes may belong to pages of the tree.</param>
    /// <param name="end">The place after the last entry.</param>
    public static long Delete(PageWriter pages, TreeState state, KeyBound start, KeyBound end)
    {
        if (state.Root.IsNone || start.CompareTo(end) >= 0)
            return 0;
        if (!HasEntries(pages, state, start, end, out var count))
            return 0;

        var startLength = start.Length;
        var endLength = end.IsEnd ? 0 : end.Length;
        var bytes = startLength + endLength <= StackBytes ? stackalloc byte[StackBytes] : new byte[startLength + endLength];
        start.CopyTo(bytes);
        if (!end.IsEnd)
            end.CopyTo(bytes[startLength..]);
        fixed (byte* keys = bytes)
        {
            var removal = new RangeRemoval(
                pages, state, new SearchKey(keys, startLength), new SearchKey(keys + startLength, endLength), hasEnd: !end.IsEnd);
            return removal.Run(count);
        }
    }

    /// <summary>Removes every entry and frees every page.</summary>
    public static void DeleteAll(PageWriter pages, TreeState state) => Delete(pages, state, default, KeyBound.End);

    /// <param name="pages">The pages of the tree.</param>
    /// <param name="state">The tree.</param>
    /// <param name="start">The place before the first entry.</param>
    /// <param name="end">The place after the last entry.</param>
    /// <param name="count">The number of entries in the range; -1 to count them later, when their leaves are read for extents.</param>
    private static bool HasEntries(PageWriter pages, TreeState state, KeyBound start, KeyBound end, out long count)
    {
        count = state.EntryCount;
        if (start.IsStart && end.IsEnd)
            return true;
        var hasExtents = state.HasMoreThanLeaves;
        count = RangeCounter.Count(state, pages, start, end, hasExtents ? 1 : long.MaxValue);
        CheckCount(pages, state, count);
        var hasEntries = count > 0;
        if (hasExtents)
            count = -1;
        return hasEntries;
    }

    private static void CheckCount(PageWriter pages, TreeState state, long removed)
    {
        if ((ulong)removed > (ulong)state.EntryCount)
            TreeErrors.ThrowEntries(pages, state.EntryCount);
    }

    private long Run(long count)
    {
        _state.CheckDepth(_pages);
        _state.PrepareForChange();
        var isEmpty = Remove(_state.Root, 0, _hasStart, _hasEnd);
        var removed = count >= 0 ? count : _removed;
        CheckCount(_pages, _state, removed);
        _state.EntryCount -= removed;
        _state.RightmostLeaf = PageNumber.None;
        _state.Changed = true;
        if (isEmpty)
        {
            _state.SetEmpty();
            return removed;
        }

        PageMerger.AfterRangeRemoval(_pages, _state, _start);
        if (_hasEnd)
            PageMerger.AfterRangeRemoval(_pages, _state, _end);
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

        if (level == _state.Depth - 1)
            return RemoveFromLeaf(page, hasStart, hasEnd);

        Enter(page, level);
        var branch = TreePages.ReadBranch(_pages, page);
        FindChildren(branch, hasStart, hasEnd, out var first, out var last);
        int from, to;
        if (first == last)
        {
            from = first;
            to = Remove(BranchPage.Child(branch, first), level + 1, hasStart, hasEnd) ? first + 1 : first;
        }
        else
        {
            from = Remove(BranchPage.Child(branch, first), level + 1, hasStart, hasEnd: false) ? first : first + 1;
            for (var i = first + 1; i < last; i++)
                FreeWhole(BranchPage.Child(branch, i), level + 1);
            to = Remove(BranchPage.Child(branch, last), level + 1, hasStart: false, hasEnd) ? last + 1 : last;
        }

        if (from >= to)
            return false;
        if (from == 0 && to == SlottedPage.Count(branch))
        {
            Free(page, isLeaf: false);
            return true;
        }

        var writable = _pages.Modify(page);
        SlottedPage.RemoveRange<BranchPage>(writable, _pages.PageSize, from, to);
        if (from == 0)
            BranchPage.DropFirstKey(writable, _pages.PageSize);
        return false;
    }

    private bool RemoveFromLeaf(PageNumber page, bool hasStart, bool hasEnd)
    {
        var bytes = TreePages.ReadLeaf(_pages, page);
        FindEntries(bytes, hasStart, hasEnd, out var from, out var to);
        if (from >= to)
            return false;
        _removed += PlantedFault.CountWholeLeavesOnly ? 0 : to - from;
        FreeValues(bytes, from, to);
        if ((from == 0 || (PlantedFault.FreeBoundaryLeaf && hasStart)) && to == SlottedPage.Count(bytes))
        {
            Free(page, isLeaf: true);
            return true;
        }

        SlottedPage.RemoveRange<LeafPage>(_pages.Modify(page), _pages.PageSize, from, to);
        return false;
    }

    private void FreeWhole(PageNumber page, int level)
    {
        Enter(page, level);
        var isLeaf = level == _state.Depth - 1;
        if (!isLeaf)
        {
            var branch = TreePages.ReadBranch(_pages, page);
            for (var i = 0; i < SlottedPage.Count(branch); i++)
                FreeWhole(BranchPage.Child(branch, i), level + 1);
        }
        else if (_hasExtents)
        {
            var leaf = TreePages.ReadLeaf(_pages, page);
            _removed += SlottedPage.Count(leaf);
            FreeValues(leaf, 0, PlantedFault.KeepExtentsOfRange ? 0 : SlottedPage.Count(leaf));
        }

        Free(page, isLeaf);
    }

    private readonly void FreeValues(byte* leaf, int from, int to)
    {
        for (var i = from; i < to && _hasExtents; i++)
            ValueExtents.Free(_pages, _state, SlottedPage.Record(leaf, i));
    }

    private readonly void Free(PageNumber page, bool isLeaf)
    {
        _state.CountFreed(isLeaf);
        _pages.Free(page);
    }

    /// <summary>Finds the first and the last child that can contain entries of the range.</summary>
    private readonly void FindChildren(byte* branch, bool hasStart, bool hasEnd, out int first, out int last)
    {
        first = hasStart ? BranchPage.Search(branch, _start) : 0;
        last = hasEnd ? BranchPage.Search(branch, _end) : SlottedPage.Count(branch) - 1;
    }

    /// <summary>Finds the entries of the range: from one index up to, but not including, the other.</summary>
    private readonly void FindEntries(byte* leaf, bool hasStart, bool hasEnd, out int from, out int to)
    {
        from = hasStart ? IndexOf(leaf, _start) : 0;
        to = hasEnd ? IndexOf(leaf, _end) : SlottedPage.Count(leaf);
    }

    private static int IndexOf(byte* leaf, in SearchKey key)
    {
        var index = LeafPage.Find(leaf, key);
        return index >= 0 ? index : ~index;
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
