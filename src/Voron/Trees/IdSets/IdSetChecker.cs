using Voron.Format;
using Voron.Primitives;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Pages;

namespace Voron.Trees.IdSets;

/// <summary>
/// Checks the set of a leaf record, down to the individual ids, and reports inconsistencies. It never fails, however damaged the bytes are.
/// </summary>
/// <remarks>
/// A slice may end after any id page. The next slice continues at the lowest id of the following page, even if the set has changed by then. The
/// counts claimed by the record are checked only if a single slice walked the whole set.
/// </remarks>
internal sealed unsafe class IdSetChecker(ITreeCheckHost host, Action<string> report)
{
    private readonly ArrayLayout _layout = ArrayLayout.OfBranches(host.PageSize);
    private readonly long[] _path = new long[IdSetReference.MaxDepth];
    private string _set = "";
    private uint _treeMark;
    private uint _ownerHash;
    private int _depth;
    private bool _isResuming;
    private long _next;
    private long _lastPage;
    private long _lastId;

    /// <summary>The number of ids visited by the last call.</summary>
    public long Ids { get; private set; }

    /// <summary>The number of pages visited by the last call.</summary>
    public long Pages { get; private set; }

    /// <summary>True if the walk stopped before the end of the set because the host's slice is over.</summary>
    public bool IsStopped { get; private set; }

    /// <summary>Checks a set, or continues an earlier check.</summary>
    /// <param name="leaf">The leaf. Its records lie within the page.</param>
    /// <param name="slot">The slot of the record.</param>
    /// <param name="record">The record.</param>
    /// <param name="treeMark">The mark of its tree.</param>
    /// <param name="continues">True to continue where the last call stopped, in the set of the same key, which may have changed since.</param>
    /// <returns>False if some pages of the set could not be walked, in which case the counts are too low.</returns>
    public bool Check(PageNumber leaf, int slot, byte* record, uint treeMark, bool continues)
    {
        (Ids, Pages, _lastPage, _lastId, _treeMark) = (0, 0, 0, -1, treeMark);
        (_isResuming, IsStopped) = (continues, false);
        _set = $"the set in slot {slot} of page {leaf}";
        var behind = LeafPage.InlineBytes(record);
        if (*(ExtendedForm*)behind != ExtendedForm.IdSet)
        {
            Ids = InlineIds.Count(behind);
            if (!InlineIds.AreSound(behind, LeafPage.InlineLength(record)))
                report($"page {leaf}: slot {slot}: one of its {Ids} ids is above {long.MaxValue}");
            return true;
        }

        var set = *(IdSetReference*)behind;
        _ownerHash = IdSetMarks.Hash(LeafPage.Key(record));

        // Levels are counted from the root, so a set that has grown or shrunk has different pages at each level.
        if (!continues || set.Depth != _depth)
            Array.Clear(_path);
        _depth = set.Depth;
        if (!Walk(set.Root, 0, long.MinValue, null))
            return false;
        if (IsStopped || (_lastPage == set.LastPage && (continues || (Ids == set.Ids && Pages == set.Pages))))
            return true;
        report(
            $"page {leaf}: slot {slot}: claims {set.Ids} ids in {set.Pages} pages up to page {set.LastPage}, " +
            $"but the walk counted {Ids} in {Pages}{(continues ? " at the end" : "")} up to page {_lastPage}");
        return true;
    }

    private bool Walk(long number, int level, long lower, long? upper)
    {
        if (number <= 0 || number >= host.PageLimit)
        {
            report($"page {number}: is linked to {_set}, but pages go from 1 to {host.PageLimit - 1}");
            return false;
        }

        var again = _isResuming && _path[level] == number;
        _path[level] = number;
        var page = again || host.Own(number, 1, isValue: false) ? host.Read(new PageNumber(number), again) : null;
        if (page == null)
            return false;
        var header = (PageHeader*)page;
        var kind = level + 1 == _depth ? PageKind.Ids : PageKind.Array;
        if (header->PageNumber != number || header->Kind != kind || (kind == PageKind.Array && !ArrayPage.IsBranch(page)))
        {
            report($"page {number}: names itself page {header->PageNumber} of kind {header->Kind}, but {_set} expects kind {kind}");
            return false;
        }

        if ((kind == PageKind.Ids ? IdStructure.FindFault(page, host.PageSize) : ArrayStructure.FindFault(page, host.PageSize)) is { } fault)
        {
            report($"page {number}: is malformed: {fault}");
            return false;
        }

        if (header->TreeMark != _treeMark || header->OwnerHash != _ownerHash)
            report($"page {number}: has the marks {header->TreeMark} and {header->OwnerHash:x8}, but {_set} has {_treeMark} and {_ownerHash:x8}");
        return kind == PageKind.Ids ? WalkIds(page, number, lower, upper) : WalkBranch(page, level, lower, upper);
    }

    private bool WalkBranch(byte* page, int level, long lower, long? upper)
    {
        var count = ArrayPage.Count(page);
        var isComplete = true;
        if (count > 1 && (ArrayPage.Key(page, _layout, 1) < lower || ArrayPage.Key(page, _layout, count - 1) >= upper))
            report($"page {_path[level]}: its children begin at ids outside the range {lower} to {upper}");
        for (var i = _isResuming ? ArrayPage.FindChild(page, _layout, _next) : 0; i < count; i++)
        {
            var from = i == 0 ? lower : ArrayPage.Key(page, _layout, i);
            var to = i + 1 < count ? ArrayPage.Key(page, _layout, i + 1) : upper;
            isComplete &= Walk(ArrayPage.Child(page, _layout, i).Value, level + 1, from, to);
            _isResuming = false;
            if (IsStopped)
                return isComplete;
            if (host.IsOver && i + 1 < count)
            {
                _next = ArrayPage.Key(page, _layout, i + 1);
                IsStopped = true;
                return isComplete;
            }
        }

        Pages++;
        return isComplete;
    }

    private bool WalkIds(byte* page, long number, long lower, long? upper)
    {
        var ids = stackalloc long[IdBlock.MaxIds];
        var payloads = stackalloc byte[IdBlock.MaxIds];
        for (var i = 0; i < IdPage.Count(page); i++)
        {
            var entry = IdPage.Entries(page)[i];
            Ids += entry.Count;
            if (!IdBlock.TryUnpack(page + entry.Place, entry.Capacity, entry.Shape, entry.First, ids)
                || !IdBlock.TryUnpackPayloads(page + entry.Place, entry.Capacity, entry.Shape, payloads))
            {
                report($"page {number}: block {i} has ids above {long.MaxValue}");
                continue;
            }

            if (ids[0] <= _lastId || ids[0] < lower || ids[entry.Count - 1] >= upper)
                report($"page {number}: block {i} has ids {ids[0]} to {ids[entry.Count - 1]}, but belongs behind {_lastId}, from {lower} up to {upper}");
            _lastId = ids[entry.Count - 1];
            if (IdBlock.Highest(payloads, entry.Count) != entry.HighestPayload)
                report($"page {number}: block {i} claims payloads up to {entry.HighestPayload}, but has {IdBlock.Highest(payloads, entry.Count)}");
        }

        Pages++;
        _lastPage = number;
        return true;
    }
}
