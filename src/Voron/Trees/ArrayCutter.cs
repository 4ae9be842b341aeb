using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Arrays;

namespace Voron.Trees;

/// <summary>Frees the pages of a dropped fixed-size tree from its left, some at a time. What remains is a whole tree each time.</summary>
/// <remarks>
/// Leaves are not read: so the number of entries is not kept up to date, and nothing asks for that of a dropped tree. A failure leaves the tree half
/// changed: the transaction must be rolled back.
/// </remarks>
internal unsafe ref struct ArrayCutter
{
    private readonly PageWriter _pages;
    private readonly TreeState _state;
    private readonly int _most;
    private long _freed;
    private TreePath _path;

    private ArrayCutter(PageWriter pages, TreeState state, int most)
    {
        _pages = pages;
        _state = state;
        _most = most;
    }

    /// <summary>Frees pages, until there are none left or enough are free. The caller has prepared the tree for the change.</summary>
    /// <inheritdoc cref="TreeCutter.Cut"/>
    public static long Cut(PageWriter pages, TreeState state, int most)
    {
        var cutter = new ArrayCutter(pages, state, most);
        while (!state.Root.IsNone && cutter._freed < most)
        {
            state.CheckDepth(pages);
            cutter.CutFirstLeaves();
        }

        return cutter._freed;
    }

    // The first leaves of the first branch above leaves.
    private void CutFirstLeaves()
    {
        ref readonly var layout = ref _state.Shape(_pages.PageSize).Branch;
        var page = _state.Root;
        byte* branch = null;
        for (var level = 0; level < _state.Depth - 1; level++)
        {
            _path.Set(level, page, 0);
            branch = ArrayPages.ReadBranch(_pages, page);
            TreeErrors.CheckMark(_pages, branch, page, _state.TreeId);
            page = ArrayPage.Child(branch, layout, 0);
        }

        // A page below itself would be freed while it is read.
        _path.LeafLevel = _state.Depth - 1;
        _path.Set(_path.LeafLevel, page, 0);
        _path.CheckDistinct(_pages, PageNumber.None);
        var leaves = branch == null ? 1 : ArrayPage.Count(branch);
        leaves = (int)Math.Min(leaves, _most - _freed);
        for (var i = 0; i < leaves; i++)
        {
            _pages.Free(branch == null ? page : ArrayPage.Child(branch, layout, i));
            _state.LeafPages--;
            _freed++;
        }

        RemoveChildren(layout, _state.Depth - 2, leaves);
    }

    /// <summary>Removes the first children of a branch. A branch without children is freed, and leaves the one above it.</summary>
    private void RemoveChildren(in ArrayLayout layout, int level, int count)
    {
        for (; level >= 0 && count > 0; level--)
        {
            var page = _path.Page(level);
            if (count < ArrayPage.Count(ArrayPages.ReadBranch(_pages, page)))
            {
                var branch = _pages.Modify(page);
                ArrayPage.RemoveRange(branch, layout, 0, count);
                ArrayPage.SetFirstKey(branch, layout);
                return;
            }

            _pages.Free(page);
            _state.BranchPages--;
            _freed++;
            count = 1;
        }

        if (level < 0 && count > 0)
            _state.SetEmpty();
    }
}
