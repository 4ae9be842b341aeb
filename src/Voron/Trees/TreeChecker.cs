using Voron.Format;
using Voron.Primitives;

namespace Voron.Trees;

/// <summary>Walks a whole tree and reports what does not fit together. No bytes, however damaged, make it fail.</summary>
internal sealed unsafe class TreeChecker
{
    private readonly PageReader _reader;
    private readonly long _pageLimit;
    private readonly Action<string> _report;
    private readonly Action<PageNumber, int>? _owned;
    private readonly HashSet<PageNumber> _visited = [];
    private readonly int _depth;
    private long _entries;
    private long _leafPages;
    private long _branchPages;
    private long _overflowPages;
    private bool _complete = true;

    private TreeChecker(PageReader reader, int depth, long pageLimit, Action<string> report, Action<PageNumber, int>? owned)
    {
        _reader = reader;
        _depth = depth;
        _pageLimit = pageLimit;
        _report = report;
        _owned = owned;
    }

    /// <summary>Checks a tree.</summary>
    /// <param name="reader">Gives the pages below <paramref name="pageLimit"/>; it may throw <see cref="CorruptionException"/>.</param>
    /// <param name="header">What the catalog says of the tree.</param>
    /// <param name="pageLimit">Page numbers from here on do not exist.</param>
    /// <param name="report">Gets a sentence for each problem, with the page number.</param>
    /// <param name="owned">Gets the first page and the number of pages of all that the tree owns.</param>
    /// <returns>Whether nothing was found.</returns>
    public static bool Check(
        PageReader reader,
        in TreeHeader header,
        long pageLimit,
        Action<string> report,
        Action<PageNumber, int>? owned = null)
    {
        var clean = true;
        void Report(string problem)
        {
            clean = false;
            report(problem);
        }

        var checker = new TreeChecker(reader, header.Depth, pageLimit, Report, owned);
        checker.Run(header);
        return clean;
    }

    private void Run(in TreeHeader header)
    {
        if (header.Depth > TreeLimits.MaxDepth)
        {
            _report($"tree header: depth is {header.Depth}, more than {TreeLimits.MaxDepth}");
            return;
        }

        if ((header.RootPage == 0) != (header.Depth == 0))
        {
            _report($"tree header: depth is {header.Depth} with root page {header.RootPage}");
            return;
        }

        if (header.RootPage != 0)
            Walk(new PageNumber(header.RootPage), 0, default, default);

        // What hangs below a damaged page was not counted: another message for it would tell nothing new.
        if (!_complete)
            return;

        Compare("entries", header.EntryCount, _entries);
        Compare("leaf pages", header.LeafPages, _leafPages);
        Compare("branch pages", header.BranchPages, _branchPages);
        Compare("overflow pages", header.OverflowPages, _overflowPages);
    }

    private void Compare(string what, long claimed, long counted)
    {
        if (claimed != counted)
            _report($"tree header: claims {claimed} {what}, counted {counted}");
    }

    private void Walk(PageNumber page, int level, Bound lower, Bound upper)
    {
        var isLeaf = level == _depth - 1;
        var bytes = Read(page);
        if (bytes == null || !_visited.Add(page))
        {
            if (bytes != null)
                _report($"page {page}: is linked to the tree twice");
            _complete = false;
            return;
        }

        _owned?.Invoke(page, 1);
        if (!PageChecker.Check(bytes, _reader.PageSize, page, isLeaf ? PageKind.Leaf : PageKind.Branch, _report))
        {
            _complete = false;
            return;
        }

        CheckBounds(bytes, page, isLeaf, lower, upper);
        if (isLeaf)
            WalkLeaf(bytes, page);
        else
            WalkBranch(bytes, level, lower, upper);
    }

    private void WalkBranch(byte* branch, int level, Bound lower, Bound upper)
    {
        _branchPages++;
        var count = SlottedPage.Count(branch);
        for (var i = 0; i < count; i++)
        {
            var from = i == 0 ? lower : Bound.OfSeparator(branch, i);
            var to = i + 1 == count ? upper : Bound.OfSeparator(branch, i + 1);
            Walk(BranchPage.Child(branch, i), level + 1, from, to);
        }
    }

    private void WalkLeaf(byte* leaf, PageNumber page)
    {
        _leafPages++;
        var count = SlottedPage.Count(leaf);
        _entries += count;
        for (var i = 0; i < count; i++)
        {
            var record = SlottedPage.Record(leaf, i);
            switch (LeafPage.Kind(record))
            {
                case ValueKind.Overflow:
                    var overflow = *(OverflowReference*)LeafPage.InlineBytes(record);
                    CheckOverflowRun(page, i, overflow.FirstPage, overflow.Length);
                    break;
                case ValueKind.LargeRun:
                    CheckLargeRun(page, i, *(LargeRunReference*)LeafPage.InlineBytes(record));
                    break;
                default:
                    break;
            }
        }
    }

    private void CheckLargeRun(PageNumber leaf, int slot, in LargeRunReference reference)
    {
        var pageSize = _reader.PageSize;
        if (!IsRunInside(leaf, slot, reference.FirstPage, reference.Length, (reference.Length + pageSize - 1) / pageSize))
            return;

        Own(reference.FirstPage, TreeLimits.LargeRunPages(pageSize, reference.Length));
        if (reference.ChecksumPage == 0)
            return;

        var bytes = Read(new PageNumber(reference.ChecksumPage));
        if (bytes == null)
            _complete = false;
        else
            CheckOverflowRun(leaf, slot, reference.ChecksumPage, ((PageHeader*)bytes)->RunLength);
    }

    private void CheckOverflowRun(PageNumber leaf, int slot, long first, long length)
    {
        var pageSize = _reader.PageSize;
        if (!IsRunInside(leaf, slot, first, length, (length - 1 + PageHeader.Size + pageSize) / pageSize))
            return;

        var pages = TreeLimits.OverflowPages(pageSize, length);
        Own(first, pages);
        var bytes = Read(new PageNumber(first));
        if (bytes == null)
            return;

        var header = (PageHeader*)bytes;
        if (header->Kind != PageKind.Overflow)
            _report($"page {first}: is of kind {header->Kind}, but page {leaf} has it as the run of slot {slot}");
        else if (header->PageNumber != first || header->RunPages != pages || header->RunLength != length)
        {
            _report(
                $"page {first}: run of page {header->PageNumber} with {header->RunPages} pages and {header->RunLength} bytes, " +
                $"but slot {slot} of page {leaf} expects {pages} pages and {length} bytes");
        }
    }

    private bool IsRunInside(PageNumber leaf, int slot, long first, long length, long pages)
    {
        // Compared by subtraction: damaged numbers must not overflow.
        if (length >= 0 && pages is >= 0 and <= int.MaxValue && first > 0 && first < _pageLimit && pages <= _pageLimit - first)
            return true;

        _report($"page {leaf}: slot {slot}: run at page {first} with {length} bytes does not lie inside {_pageLimit} pages");
        _complete = false;
        return false;
    }

    private void Own(long first, int pages)
    {
        _overflowPages += pages;
        _owned?.Invoke(new PageNumber(first), pages);
    }

    private void CheckBounds(byte* bytes, PageNumber page, bool isLeaf, Bound lower, Bound upper)
    {
        var firstKeyed = isLeaf ? 0 : 1;
        var count = SlottedPage.Count(bytes);
        if (count <= firstKeyed)
            return;

        var first = KeyOf(bytes, firstKeyed, isLeaf);
        var last = KeyOf(bytes, count - 1, isLeaf);
        if (lower.Exists && first.SequenceCompareTo(lower.Span) < 0)
            _report($"page {page}: its first key is below the separator that leads to it");
        if (upper.Exists && last.SequenceCompareTo(upper.Span) >= 0)
            _report($"page {page}: its last key is not below the separator that follows it");
    }

    private static ReadOnlySpan<byte> KeyOf(byte* page, int index, bool isLeaf)
    {
        var record = SlottedPage.Record(page, index);
        return isLeaf ? LeafPage.Key(record) : BranchPage.Key(record);
    }

    private byte* Read(PageNumber page)
    {
        if (page.Value <= 0 || page.Value >= _pageLimit)
        {
            _report($"page {page}: is linked to the tree, but pages go from 1 to {_pageLimit - 1}");
            return null;
        }

        try
        {
            return _reader.Read(page);
        }
        catch (VoronException problem)
        {
            _report($"page {page}: {problem.Message}");
            return null;
        }
    }

    /// <summary>A separator in a page, or none.</summary>
    private readonly struct Bound
    {
        private readonly byte* _record;

        private Bound(byte* record) => _record = record;

        public bool Exists => _record != null;

        public ReadOnlySpan<byte> Span => BranchPage.Key(_record);

        public static Bound OfSeparator(byte* branch, int index) => new(SlottedPage.Record(branch, index));
    }
}
