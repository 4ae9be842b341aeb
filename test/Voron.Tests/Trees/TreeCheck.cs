using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees;
using Voron.Trees.Kinds;

namespace Voron.Tests.Trees;

/// <summary>Checks a tree whose pages are in memory, at once or a few pages at a time.</summary>
internal sealed unsafe class TreeCheck(PageReader pages, Func<long> pageLimit, Action<string> report) : ITreeCheckHost
{
    public TreeCheck(PageReader pages, long pageLimit, Action<string> report)
        : this(pages, () => pageLimit, report)
    {
    }

    private readonly HashSet<long> _owned = [];
    private int _left;

    /// <summary>The number of pages that a slice reads before it ends; 0 for all.</summary>
    public int SlicePages { get; init; }

    /// <summary>True if the tree changes between slices, so that pages may come again.</summary>
    public bool CanOwnAgain { get; init; }

    public IReadOnlySet<long> Owned => _owned;

    public int Slices { get; private set; }

    public int PageSize => pages.PageSize;

    public long PageLimit => pageLimit();

    public bool IsOver => SlicePages > 0 && _left <= 0;

    /// <summary>Returns whether no problem was found.</summary>
    public bool Run(in TreeHeader header)
    {
        var checker = new TreeChecker(this);
        checker.Begin();
        do
        {
            _left = SlicePages;
            Slices++;
        }
        while (!checker.Run(header));
        return checker.CompareCounts(header);
    }

    /// <summary>Walks a tree that may change after each slice.</summary>
    public void Walk(TreeState tree, Action change)
    {
        var checker = new TreeChecker(this);
        checker.Begin();
        for (_left = SlicePages; !checker.Run(tree.ToHeader()); _left = SlicePages)
            change();
    }

    public void Report(string problem) => report(problem);

    public bool Own(long first, int count, bool isValue)
    {
        var isFirst = true;
        for (var i = 0; i < count; i++)
            isFirst &= _owned.Add(first + i);
        if (!isFirst && !CanOwnAgain)
            report($"page {first}: is linked to the tree twice");
        return isFirst || CanOwnAgain;
    }

    public byte* Read(PageNumber page, bool again)
    {
        _left -= again ? 0 : 1;
        try
        {
            return pages.Read(page);
        }
        catch (VoronException problem)
        {
            report($"page {page}: {problem.Message}");
            return null;
        }
    }

    public string? FindFault(byte* record, uint treeId) => null;

    public bool CheckValue(in LargeExtentReference reference, ref long chunk) => true;
}
