using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees.IdSets.Pages;

/// <summary>The path from the root of a set to an id page: at each level, the page and the index of the child taken.</summary>
internal unsafe struct IdSetPath
{
    private fixed long _pages[IdSetReference.MaxDepth];
    private fixed long _lowest[IdSetReference.MaxDepth];
    private fixed long _highest[IdSetReference.MaxDepth];
    private fixed ushort _indexes[IdSetReference.MaxDepth];

    /// <summary>The level of the id page; the root is at level 0.</summary>
    public int LeafLevel { get; private set; }

    /// <summary>True if the path takes the last child at every level, so that no id page follows.</summary>
    public readonly bool IsAtEnd => Highest == long.MaxValue;

    /// <summary>The lowest id that the id page may contain.</summary>
    public readonly long Lowest => _lowest[LeafLevel];

    /// <summary>The highest id that the id page may contain. The next page begins after it.</summary>
    public readonly long Highest => _highest[LeafLevel];

    public readonly PageNumber Leaf => Page(LeafLevel);

    public readonly PageNumber Page(int level) => new(_pages[level]);

    public readonly int Index(int level) => _indexes[level];

    /// <summary>Descends to the id page that contains an id, or would contain it.</summary>
    /// <exception cref="CorruptionException">
    /// A page on the path is of the wrong kind, is on the path twice, or has children that begin at ids outside its own range.
    /// </exception>
    public void Descend(PageReader reader, in ArrayLayout layout, in IdSetReference set, long id)
    {
        Begin(reader, set);
        var page = new PageNumber(set.Root);
        for (var level = 0; level < LeafLevel; level++)
        {
            var branch = ReadBranch(reader, page);
            page = Step(reader, layout, level, branch, page, ArrayPage.FindChild(branch, layout, id));
        }

        Set(reader, LeafLevel, page, 0);
    }

    /// <summary>Descends to the first or the last id page.</summary>
    /// <inheritdoc cref="Descend"/>
    public void DescendToEdge(PageReader reader, in ArrayLayout layout, in IdSetReference set, bool first)
    {
        Begin(reader, set);
        DescendBelow(reader, layout, 0, new PageNumber(set.Root), first);
    }

    /// <summary>Steps to the next or the previous id page; returns false, and stays in place, when there is none.</summary>
    public bool TryStep(PageReader reader, in ArrayLayout layout, int step)
    {
        for (var level = LeafLevel - 1; level >= 0; level--)
        {
            var branch = ReadBranch(reader, Page(level));
            var index = Index(level) + step;
            if ((uint)index >= (uint)ArrayPage.Count(branch))
                continue;
            DescendBelow(reader, layout, level + 1, Step(reader, layout, level, branch, Page(level), index), first: step > 0);
            return true;
        }

        return false;
    }

    /// <summary>Checks that two pages about to be merged are distinct, and that neither is on the path above their level.</summary>
    /// <param name="reader">The source of the pages, for messages.</param>
    /// <param name="level">The level of the two pages.</param>
    /// <param name="left">The first page.</param>
    /// <param name="right">The second page.</param>
    /// <exception cref="CorruptionException">One of the pages is linked to the set twice.</exception>
    public readonly void CheckDistinct(PageReader reader, int level, PageNumber left, PageNumber right)
    {
        if (left == right)
            IdSetErrors.ThrowShared(reader, left);
        CheckAbove(reader, level, left);
        CheckAbove(reader, level, right);
    }

    /// <summary>Returns the id page at the end of the path.</summary>
    /// <exception cref="CorruptionException">The page is of another kind, or contains blocks of ids that belong to other pages.</exception>
    public readonly byte* ReadIds(PageReader reader)
    {
        var page = IdPage.Read(reader, Leaf);
        var entries = IdPage.Entries(page);
        if (entries[0].First < Lowest || entries[IdPage.Count(page) - 1].First > Highest)
            IdSetErrors.ThrowBounds(reader, Leaf, Lowest, Highest);
        return page;
    }

    /// <summary>Returns an array page of a set.</summary>
    /// <exception cref="CorruptionException">The page is not a branch.</exception>
    public static byte* ReadBranch(PageReader reader, PageNumber number)
    {
        var page = reader.Read(number);
        if (((PageHeader*)page)->Kind != PageKind.Array || !ArrayPage.IsBranch(page))
            IdSetErrors.ThrowKind(reader, page, number, PageKind.Array);
        return page;
    }

    private void Begin(PageReader reader, in IdSetReference set)
    {
        if (set.Depth is 0 or > IdSetReference.MaxDepth)
            IdSetErrors.ThrowDepth(reader, set.Depth);
        LeafLevel = set.Depth - 1;
        _lowest[0] = 0;
        _highest[0] = long.MaxValue;
    }

    private void DescendBelow(PageReader reader, in ArrayLayout layout, int level, PageNumber page, bool first)
    {
        for (; level < LeafLevel; level++)
        {
            var branch = ReadBranch(reader, page);
            page = Step(reader, layout, level, branch, page, first ? 0 : ArrayPage.Count(branch) - 1);
        }

        Set(reader, LeafLevel, page, 0);
    }

    private PageNumber Step(PageReader reader, in ArrayLayout layout, int level, byte* branch, PageNumber page, int index)
    {
        Set(reader, level, page, index);

        // Only the first key of a page can be `long.MinValue`, so subtracting 1 from a later key cannot overflow.
        var lowest = index > 0 ? ArrayPage.Key(branch, layout, index) : _lowest[level];
        var highest = index + 1 < ArrayPage.Count(branch) ? ArrayPage.Key(branch, layout, index + 1) - 1 : _highest[level];
        if (lowest < _lowest[level] || highest > _highest[level] || lowest > highest)
            IdSetErrors.ThrowBounds(reader, page, _lowest[level], _highest[level]);
        _lowest[level + 1] = lowest;
        _highest[level + 1] = highest;
        return ArrayPage.Child(branch, layout, index);
    }

    private void Set(PageReader reader, int level, PageNumber page, int index)
    {
        CheckAbove(reader, level, page);
        _pages[level] = page.Value;
        _indexes[level] = (ushort)index;
    }

    private readonly void CheckAbove(PageReader reader, int level, PageNumber page)
    {
        for (var above = 0; above < level; above++)
        {
            if (_pages[above] == page.Value)
                IdSetErrors.ThrowShared(reader, page);
        }
    }
}
