using System.Runtime.CompilerServices;
using Voron.IO;
using Voron.Paging;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>
/// Counts the entries between two places. Branches contain no counts, so every leaf between the places is visited, but only its header is read.
/// If most of the tree lies between the places, the entries outside are counted instead, and subtracted from the entry count of the tree.
/// </summary>
internal unsafe ref struct RangeCounter
{
    private const int PrefetchDistance = 8;

    private readonly TreeState _state;
    private readonly PageReader _reader;
    private readonly long _limit;
    private readonly int _leafLevel;
    private readonly Span<Step> _from;
    private readonly Span<Step> _to;
    private long _count;
    private long _leaves;

    private RangeCounter(TreeState state, PageReader reader, long limit, Span<Step> from, Span<Step> to)
    {
        _state = state;
        _reader = reader;
        _limit = limit;
        _leafLevel = state.Depth - 1;
        _from = from;
        _to = to;
    }

    /// <summary>Counts the entries of a tree between two places. Stops when the count reaches <paramref name="limit"/>.</summary>
    /// <exception cref="CorruptionException">A visited page is damaged, or the tree has more leaves than it claims.</exception>
    [SkipLocalsInit]
    public static long Count(TreeState state, PageReader reader, KeyBound start, KeyBound end, long limit)
    {
        if (state.Root.IsNone || start.CompareTo(end) >= 0)
            return 0;
        if (start.IsStart && end.IsEnd)
            return state.EntryCount;

        state.CheckDepth(reader);
        Span<Step> steps = stackalloc Step[TreeLimits.MaxDepth * 2];
        var counter = new RangeCounter(state, reader, limit, steps[..TreeLimits.MaxDepth], steps[TreeLimits.MaxDepth..]);
        counter.Descend(start, counter._from);
        counter.Descend(end, counter._to);
        if (limit < state.EntryCount || counter.Share(counter._to) - counter.Share(counter._from) < 0.5)
            return counter.CountBetween();
        counter.CountBefore(counter._from, 0);
        counter.CountAfter(counter._to, 0);
        return state.EntryCount - counter._count;
    }

    /// <summary>Finds the path to the place: at each level, the page and the number of its entries whose subtrees lie before the place.</summary>
    private readonly void Descend(KeyBound bound, Span<Step> path)
    {
        var page = _state.Root;
        for (var level = 0; level < _leafLevel; level++)
        {
            var branch = TreePages.ReadBranch(_reader, page);
            var count = SlottedPage.Count(branch);

            // The first entry has no separator.
            var index = (bound.IsEnd ? count : PageSearch.FindEnd<BranchPage>(branch, 1, bound)) - 1;
            path[level] = new Step(branch, index, count);
            page = BranchPage.Child(branch, index);
        }

        var leaf = TreePages.ReadLeaf(_reader, page);
        var entries = SlottedPage.Count(leaf);
        path[_leafLevel] = new Step(leaf, bound.IsEnd ? entries : PageSearch.FindEnd<LeafPage>(leaf, 0, bound), entries);
    }

    /// <summary>Estimates the share of the tree before a place, to choose the side with fewer leaves.</summary>
    private readonly double Share(Span<Step> path)
    {
        var share = 0.0;
        for (var level = _leafLevel; level >= 0; level--)
            share = (path[level].Index + share) / path[level].Count;
        return share;
    }

    private long CountBetween()
    {
        var level = 0;
        while (level < _leafLevel && _from[level].Index == _to[level].Index)
            level++;
        if (level == _leafLevel)
            return _to[level].Index - _from[level].Index;

        CountBefore(_to, level + 1);
        CountAfter(_from, level + 1);
        CountChildren(_from[level].Page, level, _from[level].Index + 1, _to[level].Index);
        return _count;
    }

    /// <summary>Counts the entries before the place, within the subtree of its path's page at a level.</summary>
    private void CountBefore(Span<Step> path, int level)
    {
        for (; level < _leafLevel; level++)
            CountChildren(path[level].Page, level, 0, path[level].Index);
        _count += path[_leafLevel].Index;
    }

    /// <summary>Counts the entries after the place, within the subtree of its path's page at a level.</summary>
    private void CountAfter(Span<Step> path, int level)
    {
        for (; level < _leafLevel; level++)
            CountChildren(path[level].Page, level, path[level].Index + 1, path[level].Count);
        _count += path[_leafLevel].Count - path[_leafLevel].Index;
    }

    /// <summary>Counts the entries below some children of a branch.</summary>
    private void CountChildren(byte* branch, int level, int first, int end)
    {
        for (var i = first; i < end && _count < _limit; i++)
        {
            var child = BranchPage.Child(branch, i);
            if (level + 1 < _leafLevel)
            {
                var below = TreePages.ReadBranch(_reader, child);
                CountChildren(below, level + 1, 0, SlottedPage.Count(below));
                continue;
            }

            if (i + PrefetchDistance < end)
                CacheLines.Prefetch(_reader.Peek(BranchPage.Child(branch, i + PrefetchDistance)));
            _count += SlottedPage.Count(TreePages.ReadLeaf(_reader, child));

            // Counting branches linked in a cycle would take years.
            if (++_leaves > _state.LeafPages)
                TreeErrors.ThrowLeaves(_reader, _state.LeafPages);
        }
    }

    /// <summary>A level of a path: a page, the number of its entries before the place, and the number of all its entries.</summary>
    private readonly struct Step(byte* page, int index, int count)
    {
        public readonly byte* Page = page;
        public readonly int Index = index;
        public readonly int Count = count;
    }
}
