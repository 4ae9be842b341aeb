using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.IdSets;
using Voron.Trees.Pages;

namespace Voron.Trees.Kinds;

/// <summary>
/// Walks a tree and reports inconsistencies, either in one pass or in slices, each with the snapshot of the one before or a newer one. No bytes,
/// however damaged, make it fail.
/// </summary>
/// <remarks>
/// A slice ends between two subtrees or at a value in a leaf, and records the key from which the next slice continues. Inside a value of many
/// chunks, it also records the chunk, and inside a set of ids, the id. The tree may have changed by then: the walk continues at the first key not
/// below the recorded one. Changes missed by the walk were written after it began and are left to the next walk, so each slice makes progress
/// whatever writers do. A page with keys outside the separators that lead to it ends the descent, so no page is walked twice through two links.
/// </remarks>
internal sealed unsafe class TreeChecker
{
    private readonly ITreeCheckHost _host;
    private readonly Action<string> _report;
    private readonly long[] _path = new long[TreeLimits.MaxDepth];
    private readonly IdSetChecker _sets;
    private TreeKindDescriptor _kind = TreeKinds.Of(TreeKind.Plain);
    private byte[] _resumeKey = [];
    private int _resumeLength;
    private LargeExtentReference _resumeValue;
    private long _resumeChunk;
    private bool _isResuming;
    private bool _resumesSet;
    private bool _isClean;
    private bool _isComplete;
    private int _depth;
    private uint _treeMark;
    private int _valueSize;
    private long _leafPages;
    private long _branchPages;
    private long _overflowPages;
    private long _nestedPages;
    private long _nestedValues;

    public TreeChecker(ITreeCheckHost host)
    {
        _host = host;
        _report = Report;
        _sets = new IdSetChecker(host, _report);
    }

    /// <summary>The number of entries walked since <see cref="Begin"/>.</summary>
    public long Entries { get; private set; }

    /// <summary>The number of pages walked since <see cref="Begin"/>.</summary>
    public long Pages => _leafPages + _branchPages + _overflowPages + _nestedPages;

    /// <summary>True while no problem has been found since <see cref="Begin"/>.</summary>
    public bool IsClean => _isClean;

    /// <summary>Starts the walk of another tree.</summary>
    public void Begin()
    {
        _resumeLength = 0;
        _resumeChunk = 0;
        _isResuming = _resumesSet = false;
        _isClean = _isComplete = true;
        Entries = _leafPages = _branchPages = _overflowPages = _nestedPages = _nestedValues = 0;
        Array.Clear(_path);
    }

    /// <summary>Continues the walk until the end of the tree, or until the host ends the slice.</summary>
    /// <returns>True if the end was reached.</returns>
    public bool Run(in TreeHeader header)
    {
        if (header.Depth > TreeLimits.MaxDepth)
        {
            Report($"tree header: depth is {header.Depth}, more than {TreeLimits.MaxDepth}");
            _isComplete = false;
            return true;
        }

        if ((header.RootPage == 0) != (header.Depth == 0))
        {
            Report($"tree header: depth is {header.Depth}, which does not agree with root page {header.RootPage}");
            _isComplete = false;
            return true;
        }

        if (!TreeKinds.IsKnown(header.Kind))
        {
            Report($"tree header: its kind is {(int)header.Kind}, which no tree has");
            _isComplete = false;
            return true;
        }

        // Levels count from the root: a tree that has grown or shrunk has different pages at each level.
        if (header.Depth != _depth)
            Array.Clear(_path);
        _depth = header.Depth;
        _treeMark = header.TreeId + 1;
        _kind = TreeKinds.Of(header.Kind);
        _valueSize = (int)header.NestedValues;
        return header.RootPage == 0 || Walk(new PageNumber(header.RootPage), 0, default, default);
    }

    /// <summary>
    /// Compares the tree's header with the counts of the walk. Must be called only after the walk has reached the end, and if nothing has changed
    /// since it began.
    /// </summary>
    /// <param name="header">The header.</param>
    /// <param name="countsEntries">False if the entry count in the header is not kept up to date.</param>
    /// <returns>True if no problem at all was found.</returns>
    public bool CompareCounts(in TreeHeader header, bool countsEntries = true)
    {
        // Pages below a damaged page were not counted: another message about them would add nothing.
        if (_isComplete)
        {
            if (countsEntries)
                Compare("entries", header.EntryCount, Entries);
            Compare("leaf pages", header.LeafPages, _leafPages);
            Compare("branch pages", header.BranchPages, _branchPages);
            Compare("overflow pages", header.OverflowPages, _overflowPages);
            if (_kind.HasIdSets)
            {
                Compare("pages of sets", header.NestedPages, _nestedPages);
                Compare("ids", header.NestedValues, _nestedValues);
            }
        }

        return _isClean;
    }

    private void Compare(string what, long claimed, long counted)
    {
        if (claimed != counted)
            Report($"tree header: claims {claimed} {what}, but the walk counted {counted}");
    }

    // The keys below the page must lie between the bounds: the lower one is included, the upper one excluded.
    private bool Walk(PageNumber page, int level, Bound lower, Bound upper)
    {
        var isLeaf = level == _depth - 1;
        var bytes = Enter(page, level);
        if (bytes == null || !_kind.Pages.Check(bytes, new PageClaim(page, _host.PageSize, isLeaf, _valueSize), _report)
            || !IsInside(bytes, page, isLeaf, lower, upper))
        {
            _isComplete = false;
            return true;
        }

        CheckMark(bytes, page);
        return isLeaf ? WalkLeaf(bytes, page) : WalkBranch(bytes, level, lower, upper);
    }

    // Pages allocated in version 1 of the format have no mark.
    private void CheckMark(byte* bytes, PageNumber page)
    {
        var mark = ((PageHeader*)bytes)->TreeMark;
        if (mark != 0 && mark != _treeMark)
            Report($"page {page}: has the mark of the tree with id {mark - 1}, but belongs to the tree with id {_treeMark - 1}");
    }

    private byte* Enter(PageNumber page, int level)
    {
        if (page.Value <= 0 || page.Value >= _host.PageLimit)
        {
            Report($"page {page}: is linked to the tree, but pages go from 1 to {_host.PageLimit - 1}");
            return null;
        }

        var again = _isResuming && _path[level] == page.Value;
        _path[level] = page.Value;
        if (!again && !_host.Own(page.Value, 1, isValue: false))
        {
            _isClean = false;
            return null;
        }

        return Read(page, again);
    }

    private bool WalkBranch(byte* branch, int level, Bound lower, Bound upper)
    {
        Span<byte> fromKey = stackalloc byte[ArrayKey.Size], toKey = stackalloc byte[ArrayKey.Size];
        var count = PageForm.Count(branch);
        var first = _isResuming ? _kind.Pages.FindChild(branch, _host.PageSize, ResumeKey) : 0;
        for (var i = first; i < count; i++)
        {
            var from = i == 0 ? lower : new Bound(_kind.Pages.Key(branch, _host.PageSize, i, fromKey));
            var to = i + 1 == count ? upper : new Bound(_kind.Pages.Key(branch, _host.PageSize, i + 1, toKey));
            if (!Walk(_kind.Pages.Child(branch, _host.PageSize, i), level + 1, from, to))
                return false;
            _isResuming = false;
            if (_host.IsOver && to.Exists && i + 1 < count)
                return Stop(to.Key);
        }

        _branchPages++;
        return true;
    }

    private ReadOnlySpan<byte> ResumeKey => _resumeKey.AsSpan(0, _resumeLength);

    private bool WalkLeaf(byte* leaf, PageNumber page)
    {
        var count = PageForm.Count(leaf);
        _resumesSet &= _isResuming;
        if (!_kind.Pages.HasReferences)
            _resumeChunk = 0;
        var first = _isResuming ? FindEntry(leaf) : 0;
        _isResuming = false;
        if (!_kind.Pages.HasReferences)
        {
            Entries += count - first;
            first = count;
        }

        for (var i = first; i < count; i++)
        {
            var record = SlottedPage.Record(leaf, i);
            var kind = LeafPage.Kind(record);
            if (_kind.HasIdSets && kind != ValueKind.Extended)
                Report($"page {page}: slot {i}: a value of kind {kind}, but the tree has sets of ids");
            if (kind != ValueKind.Inline)
            {
                if (i > first && _host.IsOver)
                    return Stop(LeafPage.Key(record));
                if (!WalkValue(page, i, record, kind))
                    return Stop(LeafPage.Key(record));
            }

            _resumeChunk = 0;
            _resumesSet = false;
            Entries++;
        }

        _leafPages++;
        return true;
    }

    // The entry of the key, or the one after it. Checked chunks count only for the value to which they belong.
    private int FindEntry(byte* leaf)
    {
        var index = _kind.Pages.FindEntry(leaf, _host.PageSize, ResumeKey);
        _resumesSet &= index >= 0;
        if (_resumeChunk == 0)
            return index >= 0 ? index : ~index;
        if (index < 0)
        {
            _resumeChunk = 0;
            return ~index;
        }

        var record = SlottedPage.Record(leaf, index);
        if (LeafPage.Kind(record) == ValueKind.LargeExtent)
        {
            var reference = *(LargeExtentReference*)LeafPage.InlineBytes(record);
            if (reference.FirstPage == _resumeValue.FirstPage && reference.Length == _resumeValue.Length)
                return index;
        }

        // Another value: it was written since the walk began.
        _resumeChunk = 0;
        Entries++;
        return index + 1;
    }

    private bool WalkValue(PageNumber leaf, int slot, byte* record, ValueKind kind)
    {
        var overflow = LeafPage.Overflow(record);
        if (overflow != null && !_kind.HasIdSets)
        {
            CheckOverflowExtent(leaf, slot, overflow->FirstPage, overflow->Length);
            CheckPacked(leaf, slot, record);
            return true;
        }

        if (kind == ValueKind.Extended && _kind.HasIdSets)
            return WalkSet(leaf, slot, record);
        CheckPacked(leaf, slot, record);
        if (kind == ValueKind.Extended && LeafPage.Packed(record) == null)
            Report($"page {leaf}: slot {slot}: a record of form {*LeafPage.InlineBytes(record)}, which is impossible in a tree of values");
        if (kind != ValueKind.LargeExtent)
            return true;
        var reference = *(LargeExtentReference*)LeafPage.InlineBytes(record);
        if (_resumeChunk == 0 && !EnterLargeExtent(leaf, slot, reference))
            return true;
        _resumeValue = reference;
        return _host.CheckValue(reference, ref _resumeChunk);
    }

    // False if the slice ends inside the set.
    private bool WalkSet(PageNumber leaf, int slot, byte* record)
    {
        if (!_sets.Check(leaf, slot, record, _treeMark, _resumesSet))
            _isClean = _isComplete = false;
        _nestedPages += _sets.Pages;
        _nestedValues += _sets.Ids;
        _resumesSet = _sets.IsStopped;
        return !_sets.IsStopped;
    }

    private bool EnterLargeExtent(PageNumber leaf, int slot, in LargeExtentReference reference)
    {
        var pageSize = _host.PageSize;
        if (!IsExtentInside(leaf, slot, reference.FirstPage, reference.Length, (reference.Length + pageSize - 1) / pageSize))
            return false;

        Own(reference.FirstPage, LargeValues.PageCount(pageSize, reference.Length), isValue: true);
        if (reference.IsOneChunk)
            return true;
        if (reference.ChecksumPage <= 0 || reference.ChecksumPage >= _host.PageLimit)
        {
            Report($"page {reference.ChecksumPage}: is linked to the tree, but pages go from 1 to {_host.PageLimit - 1}");
            _isComplete = false;
            return false;
        }

        // Only the checksum extent itself records its length.
        var bytes = Read(new PageNumber(reference.ChecksumPage), again: false);
        if (bytes == null)
        {
            _isComplete = false;
            return false;
        }

        var length = ((PageHeader*)bytes)->ExtentBytes;
        if (!IsExtentInside(leaf, slot, reference.ChecksumPage, length, (length - 1 + PageHeader.Size + pageSize) / pageSize))
            return false;
        var pages = TreeLimits.OverflowPages(pageSize, length);
        Own(reference.ChecksumPage, pages);
        CheckExtentHeader(leaf, slot, (PageHeader*)bytes, reference.ChecksumPage, length, pages);
        return true;
    }

    private void CheckOverflowExtent(PageNumber leaf, int slot, long first, long length)
    {
        var pageSize = _host.PageSize;
        if (!IsExtentInside(leaf, slot, first, length, (length - 1 + PageHeader.Size + pageSize) / pageSize))
            return;

        var pages = TreeLimits.OverflowPages(pageSize, length);
        Own(first, pages);
        var bytes = Read(new PageNumber(first), again: false);
        if (bytes != null)
            CheckExtentHeader(leaf, slot, (PageHeader*)bytes, first, length, pages);
    }

    private void CheckExtentHeader(PageNumber leaf, int slot, PageHeader* header, long first, long length, int pages)
    {
        if (header->Kind != PageKind.Overflow)
            Report($"page {first}: is of kind {header->Kind}, but slot {slot} of page {leaf} refers to it as an overflow extent");
        else if (header->PageNumber != first || header->ExtentPages != pages || header->ExtentBytes != length)
        {
            Report(
                $"page {first}: extent of page {header->PageNumber} with {header->ExtentPages} pages and {header->ExtentBytes} bytes, " +
                $"but slot {slot} of page {leaf} expects {pages} pages and {length} bytes");
        }
    }

    private bool IsExtentInside(PageNumber leaf, int slot, long first, long length, long pages)
    {
        // Compared by subtraction: damaged numbers must not overflow.
        if (length >= 0 && pages is >= 0 and <= int.MaxValue && first > 0 && first < _host.PageLimit && pages <= _host.PageLimit - first)
            return true;

        Report($"page {leaf}: slot {slot}: extent at page {first} with {length} bytes does not lie inside {_host.PageLimit} pages");
        _isComplete = false;
        return false;
    }

    private void Own(long first, int pages, bool isValue = false)
    {
        _overflowPages += pages;
        if (!_host.Own(first, pages, isValue))
            _isClean = false;
    }

    private bool IsInside(byte* bytes, PageNumber page, bool isLeaf, Bound lower, Bound upper)
    {
        var firstKeyed = isLeaf ? 0 : 1;
        var count = PageForm.Count(bytes);
        if (count <= firstKeyed)
            return true;

        var first = _kind.Pages.Key(bytes, _host.PageSize, firstKeyed, stackalloc byte[ArrayKey.Size]);
        var last = _kind.Pages.Key(bytes, _host.PageSize, count - 1, stackalloc byte[ArrayKey.Size]);
        var isAbove = !lower.Exists || first.SequenceCompareTo(lower.Key) >= 0;
        var isBelow = !upper.Exists || last.SequenceCompareTo(upper.Key) < 0;
        if (!isAbove)
            Report($"page {page}: its first key, {_kind.Pages.Describe(first)}, is below the separator that leads to it, {_kind.Pages.Describe(lower.Key)}");
        if (!isBelow)
            Report($"page {page}: its last key, {_kind.Pages.Describe(last)}, is not below the separator that follows it, {_kind.Pages.Describe(upper.Key)}");
        return isAbove && isBelow;
    }

    private void CheckPacked(PageNumber leaf, int slot, byte* record)
    {
        if (LeafPage.Packed(record) != null && _host.FindFault(record, _treeMark - 1) is { } fault)
            Report($"page {leaf}: slot {slot}: {fault}");
    }

    private byte* Read(PageNumber page, bool again)
    {
        var bytes = _host.Read(page, again);
        if (bytes == null)
            _isClean = false;
        return bytes;
    }

    private void Report(string problem)
    {
        _isClean = false;
        _host.Report(problem);
    }

    private bool Stop(ReadOnlySpan<byte> key)
    {
        if (_resumeKey.Length < key.Length)
            _resumeKey = new byte[Math.Max(256, key.Length)];
        key.CopyTo(_resumeKey);
        _resumeLength = key.Length;
        _isResuming = true;
        return false;
    }

    /// <summary>The key of a separator, or no bound.</summary>
    private readonly ref struct Bound(ReadOnlySpan<byte> key)
    {
        public ReadOnlySpan<byte> Key { get; } = key;

        public bool Exists { get; } = true;
    }
}
