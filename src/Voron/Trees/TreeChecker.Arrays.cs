using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Primitives;
using Voron.Trees.Arrays;

namespace Voron.Trees;

/// <content>The walk of a fixed-size tree.</content>
internal sealed unsafe partial class TreeChecker
{
    /// <summary>Walks the pages below one, whose keys must be from one on and up to another, or all those behind if there is no other.</summary>
    private bool WalkArray(PageNumber page, int level, long lower, long? upper)
    {
        var isLeaf = level == _depth - 1;
        var bytes = Enter(page, level);
        if (bytes == null || !CheckArrayPage(bytes, page, isLeaf, lower, upper))
        {
            _isComplete = false;
            return true;
        }

        CheckMark(bytes, page);
        if (!isLeaf)
            return WalkArrayBranch(bytes, level, lower, upper);
        var first = _isResuming ? ArrayPage.CountBelow(bytes, _shape.Leaf, ResumeArrayKey) : 0;
        _isResuming = false;
        Entries += ArrayPage.Count(bytes) - first;
        _leafPages++;
        return true;
    }

    private bool WalkArrayBranch(byte* branch, int level, long lower, long? upper)
    {
        ref readonly var layout = ref _shape.Branch;
        var count = ArrayPage.Count(branch);
        var first = _isResuming ? ArrayPage.FindChild(branch, layout, ResumeArrayKey) : 0;
        for (var i = first; i < count; i++)
        {
            var from = i == 0 ? lower : ArrayPage.Key(branch, layout, i);
            var to = i + 1 == count ? upper : ArrayPage.Key(branch, layout, i + 1);
            if (!WalkArray(ArrayPage.Child(branch, layout, i), level + 1, from, to))
                return false;
            _isResuming = false;
            if (_host.IsOver && i + 1 < count)
            {
                var next = to!.Value;
                return Stop(MemoryMarshal.AsBytes(new ReadOnlySpan<long>(in next)));
            }
        }

        _branchPages++;
        return true;
    }

    private long ResumeArrayKey => MemoryMarshal.Read<long>(_resumeKey);

    private bool CheckArrayPage(byte* bytes, PageNumber page, bool isLeaf, long lower, long? upper)
    {
        var header = (PageHeader*)bytes;
        if (header->Kind != PageKind.Array)
        {
            Report($"page {page}: is of kind {header->Kind}, expected {PageKind.Array}");
            return false;
        }

        if (PageStructure.FindFault(bytes, 1, page.Value, _host.PageSize) is { } fault)
        {
            Report($"page {page}: is malformed: {fault}");
            return false;
        }

        ref readonly var layout = ref isLeaf ? ref _shape.Leaf : ref _shape.Branch;
        if (ArrayPage.IsBranch(bytes) == isLeaf || ArrayPage.ValueSize(bytes) != layout.ValueSize)
        {
            Report(
                $"page {page}: is {(ArrayPage.IsBranch(bytes) ? "a branch" : "a leaf")} with values of {ArrayPage.ValueSize(bytes)} bytes, expected " +
                $"{(isLeaf ? "a leaf" : "a branch")} with values of {layout.ValueSize} bytes");
            return false;
        }

        return IsArrayInside(bytes, page, isLeaf, lower, upper);
    }

    private bool IsArrayInside(byte* bytes, PageNumber page, bool isLeaf, long lower, long? upper)
    {
        ref readonly var layout = ref isLeaf ? ref _shape.Leaf : ref _shape.Branch;
        var count = ArrayPage.Count(bytes);
        var first = ArrayPage.Key(bytes, layout, 0);
        if (!isLeaf && first != ArrayLayout.FirstKey)
        {
            Report($"page {page}: the key of its first child is {first}, not {ArrayLayout.FirstKey}");
            return false;
        }

        if (!isLeaf)
        {
            if (count == 1)
                return true;
            first = ArrayPage.Key(bytes, layout, 1);
        }

        var last = ArrayPage.Key(bytes, layout, count - 1);
        if (first < lower)
            Report($"page {page}: its first key, {first}, is below the separator that leads to it, {lower}");
        if (last >= upper)
            Report($"page {page}: its last key, {last}, is not below the separator that follows it, {upper}");
        return first >= lower && !(last >= upper);
    }
}
