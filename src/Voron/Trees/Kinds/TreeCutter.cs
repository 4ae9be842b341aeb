using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Trees.IdSets;
using Voron.Trees.Pages;

namespace Voron.Trees.Kinds;

/// <summary>Frees the pages of a dropped tree from the left, some at a time. The rest remains a valid tree each time.</summary>
/// <remarks>
/// Leaves are read only if the tree has values outside of them. The entry count is therefore not kept up to date: nothing needs that of a dropped
/// tree. A failure leaves the tree partially changed: the transaction must be rolled back.
/// </remarks>
internal unsafe ref struct TreeCutter
{
    private readonly PageWriter _pages;
    private readonly TreeState _state;
    private readonly TreeKindDescriptor _kind;
    private readonly bool _hasExtents;
    private readonly int _most;
    private long _freed;
    private TreePath _path;

    private TreeCutter(PageWriter pages, TreeState state, int most)
    {
        _pages = pages;
        _state = state;
        _kind = TreeKinds.Of(state.Kind);
        _most = most;
        _hasExtents = state.HasMoreThanLeaves && !PlantedFault.KeepDroppedValues;
    }

    private readonly bool IsEnough => _freed >= _most;

    /// <summary>Frees pages until none are left, or enough are free.</summary>
    /// <param name="pages">The pages of the tree.</param>
    /// <param name="state">The tree, which is empty after its last page has been freed.</param>
    /// <param name="most">
    /// The number of pages to free. It can be exceeded by the pages of the last value, which is freed as a whole, and by a few pages of the tree or
    /// of a set of ids, at most one for each level. A set of ids is freed in parts.
    /// </param>
    /// <returns>The number of freed pages.</returns>
    /// <exception cref="CorruptionException">A visited page is damaged.</exception>
    public static long Cut(PageWriter pages, TreeState state, int most)
    {
        var cutter = new TreeCutter(pages, state, most);
        state.PrepareForChange();
        state.RightmostLeaf = PageNumber.None;
        state.Changed = true;
        while (!state.Root.IsNone && !cutter.IsEnough)
        {
            state.CheckDepth(pages);
            cutter.CutFirstLeaves();
        }

        return cutter._freed;
    }

    // Frees the first leaves of the first branch above leaves.
    private void CutFirstLeaves()
    {
        var page = _state.Root;
        byte* branch = null;
        for (var level = 0; level < _state.Depth - 1; level++)
        {
            _path.Set(level, page, 0);
            branch = _kind.Pages.ReadBranch(_pages, page);
            TreeErrors.CheckMark(_pages, branch, page, _state.TreeId);
            page = _kind.Pages.Child(branch, _pages.PageSize, 0);
        }

        // A page below itself would be freed while it is being read.
        _path.LeafLevel = _state.Depth - 1;
        _path.Set(_path.LeafLevel, page, 0);
        _path.CheckDistinct(_pages, PageNumber.None);
        if (branch == null)
        {
            if (TryFreeLeaf(page))
                RemoveChildren(-1, 1);
            return;
        }

        var leaves = 0;
        while (leaves < PageForm.Count(branch) && !IsEnough && TryFreeLeaf(_kind.Pages.Child(branch, _pages.PageSize, leaves)))
            leaves++;
        RemoveChildren(_state.Depth - 2, leaves);
    }

    /// <summary>Removes the first children of a branch. A branch left without children is freed, and removed from the branch above it.</summary>
    /// <param name="level">The level of the branch; -1 above the root.</param>
    /// <param name="count">The number of children.</param>
    private void RemoveChildren(int level, int count)
    {
        for (; level >= 0 && count > 0; level--)
        {
            var page = _path.Page(level);
            if (count < PageForm.Count(_kind.Pages.ReadBranch(_pages, page)))
            {
                _kind.Pages.RemoveFirst(_pages.Modify(page), _pages.PageSize, count);
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

    // False if the leaf keeps values or a part of a set, because enough pages are free.
    private bool TryFreeLeaf(PageNumber page)
    {
        if (_hasExtents && !TryFreeValues(page))
            return false;
        if (!PlantedFault.KeepLastDroppedLeaf || _state.LeafPages > 1)
            _pages.Free(page);
        _state.LeafPages--;
        _freed++;
        return true;
    }

    private bool TryFreeValues(PageNumber page)
    {
        var leaf = TreePages.ReadLeaf(_pages, page);
        TreeErrors.CheckMark(_pages, leaf, page, _state.TreeId);
        var count = SlottedPage.Count(leaf);
        for (var i = 0; i < count; i++)
        {
            if (IsEnough)
            {
                RemoveEntries(page, i);
                return false;
            }

            var record = SlottedPage.Record(leaf, i);
            var left = _most - _freed;
            if (IdTreeReader.IsSetWithPages(record) && ((IdSetReference*)LeafPage.InlineBytes(record))->Pages > left)
            {
                CutSet(page, i, left);
                return false;
            }

            var before = _state.OverflowPages + _state.NestedPages;
            ValueExtents.Free(_pages, _state, record);
            _freed += before - _state.OverflowPages - _state.NestedPages;
        }

        CountSets(count);
        return true;
    }

    private void CutSet(PageNumber page, int index, long most)
    {
        if (!_kind.HasIdSets)
            TreeErrors.ThrowExtended(SlottedPage.Record(_pages.Read(page), index));
        RemoveEntries(page, index);
        var leaf = _pages.Modify(page);
        var before = _state.NestedPages;
        ValueExtents.FreeSomeOfSet(_pages, _state, leaf, SlottedPage.Record(leaf.Bytes, 0), most);
        _freed += before - _state.NestedPages;
    }

    private readonly void RemoveEntries(PageNumber page, int count)
    {
        if (count > 0)
            SlottedPage.RemoveRange<LeafPage>(_pages.Modify(page), _pages.PageSize, 0, count);
        CountSets(count);
    }

    // A header with more sets than ids would be invalid.
    private readonly void CountSets(int freed)
    {
        if (_kind.HasIdSets)
            _state.EntryCount -= freed;
    }
}
