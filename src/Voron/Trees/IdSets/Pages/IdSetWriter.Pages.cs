using System.Diagnostics;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees.IdSets.Pages;

/// <content>Splits, merges and frees the pages of a set.</content>
internal unsafe ref partial struct IdSetWriter
{
    /// <summary>Frees all pages of a set. Afterwards, the reference has no root.</summary>
    /// <exception cref="CorruptionException">
    /// A page of the set is damaged or belongs to another set, or the set does not have the number of pages that it claims.
    /// </exception>
    public static void FreeAll(PageWriter pages, in IdSetMarks marks, ref IdSetReference set)
    {
        IdSetErrors.CheckShape(pages, set);
        var left = (long)set.Pages;
        Free(pages, marks, new PageNumber(set.Root), set.Depth, ref left);
        if (left != 0)
            IdSetErrors.ThrowCount(pages, set.Ids, set.Pages);
        set = default;
    }

    /// <summary>Frees pages at the end of a set, together with their ids, until enough are free. The remaining set is consistent.</summary>
    /// <param name="pages">The pages.</param>
    /// <param name="marks">The marks of the set.</param>
    /// <param name="set">The set, which must have more pages than are to be freed.</param>
    /// <param name="most">The number of pages to free. Up to as many more as the set has levels may be freed.</param>
    /// <inheritdoc cref="FreeAll"/>
    public static void FreeSome(PageWriter pages, in IdSetMarks marks, ref IdSetReference set, long most)
    {
        IdSetErrors.CheckShape(pages, set);
        var writer = new IdSetWriter(pages, marks, set, null, null);
        for (var left = set.Pages - most; writer._set.Pages > left;)
        {
            writer.FreeLastPage();
            if (writer._set.Ids <= 0)
                IdSetErrors.ThrowCount(pages, set.Ids, set.Pages);
        }

        set = writer._set;
    }

    private void FreeLastPage()
    {
        _path.DescendToEdge(_pages, _layout, _set, first: false);
        var page = _path.ReadIds(_pages);
        _marks.Check(_pages, page, _path.Leaf);
        for (var i = 0; i < IdPage.Count(page); i++)
            _set.Ids -= IdPage.Entries(page)[i].Count;
        RemoveLeaf();
    }

    private static void Free(PageWriter pages, in IdSetMarks marks, PageNumber page, int depth, ref long left)
    {
        // Without this check, a page linked to itself would be freed forever.
        if (--left < 0)
            IdSetErrors.ThrowShared(pages, page);
        if (depth > 1)
        {
            var layout = ArrayLayout.OfBranches(pages.PageSize);
            var branch = IdSetPath.ReadBranch(pages, page);
            marks.Check(pages, branch, page);
            for (var i = 0; i < ArrayPage.Count(branch); i++)
                Free(pages, marks, ArrayPage.Child(branch, layout, i), depth - 1, ref left);
        }
        else
        {
            marks.Check(pages, IdPage.Read(pages, page), page);
        }

        pages.Free(page);
    }

    private PageNumber AddPage(PageNumber near, in IdContent content)
    {
        var page = _pages.Allocate(PageKind.Ids, near);
        _set.Pages++;
        IdPageEditor.Initialize(page, _pages.PageSize, _marks);
        var isWritten = IdPageEditor.TryReplace(page, _pages.PageSize, 0, 0, content);
        Debug.Assert(isWritten, "A block must have room in an empty page.");
        return new PageNumber(page.Header->PageNumber);
    }

    /// <summary>Moves the upper half of a full page to a new one.</summary>
    private void Divide(PageNumber number)
    {
        var pageSize = _pages.PageSize;
        var right = _pages.Allocate(PageKind.Ids, number);
        _set.Pages++;
        IdPageEditor.Initialize(right, pageSize, _marks);
        var left = _pages.Modify(number);
        var at = IdPageEditor.Half(left.Bytes, pageSize);
        IdPageEditor.AppendBlocks(left.Bytes, at, IdPage.Count(left.Bytes), right, pageSize);
        IdPageEditor.Truncate(left, pageSize, at);
        var rightNumber = new PageNumber(right.Header->PageNumber);
        if (_path.IsAtEnd)
            _set.LastPage = (uint)rightNumber.Value;
        InsertChild(_path.LeafLevel - 1, IdPage.Entries(right.Bytes)[0].First, rightNumber);
    }

    /// <summary>Adds a child to a branch, directly after the child on the path. Invalidates the path.</summary>
    private void InsertChild(int level, long key, PageNumber child)
    {
        if (level < 0)
        {
            GrowRoot(key, child);
            return;
        }

        var left = ModifyBranch(_path.Page(level));
        var index = _path.Index(level) + 1;
        if (!ArrayPage.IsFull(left.Bytes, _layout))
        {
            ArrayPage.InsertChild(left, _layout, index, key, child);
            return;
        }

        var count = ArrayPage.Count(left.Bytes);
        var right = AddBranch(_path.Page(level));
        var isAppended = index == count && _path.IsAtEnd;
        var at = isAppended ? count : count / 2;

        // The key of the first child on the right moves up to the parent.
        var promoted = key;
        if (isAppended)
        {
            ArrayPage.InsertChild(right, _layout, 0, ArrayLayout.FirstKey, child);
        }
        else
        {
            promoted = ArrayPage.Key(left.Bytes, _layout, at);
            ArrayPage.Append(left.Bytes, _layout, at, count, right);
            ArrayPage.SetKey(right, _layout, 0, ArrayLayout.FirstKey);
            ArrayPage.Truncate(left, _layout, at);
            if (index <= at)
                ArrayPage.InsertChild(left, _layout, index, key, child);
            else
                ArrayPage.InsertChild(right, _layout, index - at, key, child);
        }

        InsertChild(level - 1, promoted, new PageNumber(right.Header->PageNumber));
    }

    private void GrowRoot(long key, PageNumber child)
    {
        if (_set.Depth >= IdSetReference.MaxDepth)
            IdSetErrors.ThrowDepth(_pages, _set.Depth + 1);
        var root = AddBranch(new PageNumber(_set.Root));
        ArrayPage.InsertChild(root, _layout, 0, ArrayLayout.FirstKey, new PageNumber(_set.Root));
        ArrayPage.InsertChild(root, _layout, 1, key, child);
        _set.Root = (uint)root.Header->PageNumber;
        _set.Depth++;
    }

    private WritablePage AddBranch(PageNumber near)
    {
        var page = _pages.Allocate(PageKind.Array, near);
        _set.Pages++;
        ArrayPage.Initialize(page, _layout, isBranch: true, _marks.TreeMark);
        _marks.Write(page);
        return page;
    }

    /// <summary>Frees the id page of the path, whose ids are no longer counted.</summary>
    private void RemoveLeaf()
    {
        var leaf = _path.Leaf;
        FreePage(leaf);
        RemoveChild(_path.LeafLevel - 1, -1);
        if (_set.LastPage == (uint)leaf.Value)
            FindLastPage();
    }

    /// <summary>Removes a child from the path's branch at a level, and the branch itself if that was its only child.</summary>
    /// <param name="level">The level of the branch; -1 for the reference to the root.</param>
    /// <param name="index">The child; -1 for the child on the path.</param>
    private void RemoveChild(int level, int index)
    {
        if (level < 0)
        {
            if (_set.Ids != 0 || _set.Pages != 0)
                IdSetErrors.ThrowCount(_pages, _set.Ids, _set.Pages);
            _set = default;
            return;
        }

        var branch = ModifyBranch(_path.Page(level));
        var at = index < 0 ? _path.Index(level) : index;
        ArrayPage.Remove(branch, _layout, at);
        var count = ArrayPage.Count(branch.Bytes);

        // The new first child also covers the ids below its own key.
        if (at == 0 && count > 0)
            ArrayPage.SetFirstKey(branch, _layout);
        if (count == 0)
        {
            FreePage(_path.Page(level));
            RemoveChild(level - 1, -1);
        }
        else if (level == 0)
        {
            CollapseRoot();
        }
        else if (count < _layout.Capacity / 3)
        {
            MergeBranch(level);
        }
    }

    private void CollapseRoot()
    {
        while (_set.Depth > 1)
        {
            var root = new PageNumber(_set.Root);
            var branch = IdSetPath.ReadBranch(_pages, root);
            if (ArrayPage.Count(branch) > 1)
                return;
            _marks.Check(_pages, branch, root);
            _set.Root = (uint)ArrayPage.Child(branch, _layout, 0).Value;
            _set.Depth--;
            FreePage(root);
        }
    }

    private void MergeBranch(int level)
    {
        var parent = IdSetPath.ReadBranch(_pages, _path.Page(level - 1));
        var index = _path.Index(level - 1);
        if (!TryMergeBranches(level, parent, index))
            TryMergeBranches(level, parent, index - 1);
    }

    /// <summary>Moves the children of the branch after an index into the branch at that index, if they fit comfortably.</summary>
    private bool TryMergeBranches(int level, byte* parent, int index)
    {
        if (index < 0 || index + 1 >= ArrayPage.Count(parent))
            return false;
        var leftNumber = ArrayPage.Child(parent, _layout, index);
        var rightNumber = ArrayPage.Child(parent, _layout, index + 1);
        var right = IdSetPath.ReadBranch(_pages, rightNumber);
        var left = IdSetPath.ReadBranch(_pages, leftNumber);
        CheckPair(level, leftNumber, rightNumber);
        if (ArrayPage.Count(left) + ArrayPage.Count(right) > _layout.Capacity / 4 * 3)
            return false;
        var count = ArrayPage.Count(left);
        var key = ArrayPage.Key(parent, _layout, index + 1);
        var target = _pages.Modify(leftNumber);
        ArrayPage.Append(right, _layout, 0, ArrayPage.Count(right), target);

        // The first child of the right page takes the key of that page in the parent.
        ArrayPage.SetKey(target, _layout, count, key);
        FreePage(rightNumber);
        RemoveChild(level - 1, index + 1);
        return true;
    }

    /// <summary>Merges the id page of the path with a neighbour if less than a third of it is in use. Invalidates the path.</summary>
    private void MergeLeaf()
    {
        if (_path.LeafLevel == 0 || IdPage.UsedBytes(_pages.Read(_path.Leaf), _pages.PageSize) >= IdPage.Capacity(_pages.PageSize) / 3)
            return;
        var parent = IdSetPath.ReadBranch(_pages, _path.Page(_path.LeafLevel - 1));
        var index = _path.Index(_path.LeafLevel - 1);
        if (!TryMergeLeaves(parent, index))
            TryMergeLeaves(parent, index - 1);
    }

    private bool TryMergeLeaves(byte* parent, int index)
    {
        if (index < 0 || index + 1 >= ArrayPage.Count(parent))
            return false;
        var leftNumber = ArrayPage.Child(parent, _layout, index);
        var rightNumber = ArrayPage.Child(parent, _layout, index + 1);
        var left = IdPage.Read(_pages, leftNumber);
        var right = IdPage.Read(_pages, rightNumber);
        var pageSize = _pages.PageSize;
        CheckPair(_path.LeafLevel, leftNumber, rightNumber);
        if (IdPage.UsedBytes(left, pageSize) + IdPage.UsedBytes(right, pageSize) > IdPage.Capacity(pageSize) / 4 * 3
            || IdPage.Entries(left)[IdPage.Count(left) - 1].IsTail)
            return false;
        IdPageEditor.AppendBlocks(right, 0, IdPage.Count(right), _pages.Modify(leftNumber), pageSize);
        FreePage(rightNumber);
        if (_set.LastPage == (uint)rightNumber.Value)
            _set.LastPage = (uint)leftNumber.Value;
        RemoveChild(_path.LeafLevel - 1, index + 1);
        return true;
    }

    /// <summary>Checks two neighbouring pages that may be merged.</summary>
    private readonly void CheckPair(int level, PageNumber left, PageNumber right)
    {
        _path.CheckDistinct(_pages, level, left, right);
        _marks.Check(_pages, _pages.Read(left), left);
        _marks.Check(_pages, _pages.Read(right), right);
    }

    private readonly WritablePage ModifyBranch(PageNumber number)
    {
        _marks.Check(_pages, IdSetPath.ReadBranch(_pages, number), number);
        return _pages.Modify(number);
    }

    private void FreePage(PageNumber number)
    {
        _pages.Free(number);
        if (_set.Pages-- == 0)
            IdSetErrors.ThrowCount(_pages, _set.Ids, 0);
    }

    private void FindLastPage()
    {
        if (_set.Root == 0)
            return;
        _path.DescendToEdge(_pages, _layout, _set, first: false);
        _marks.Check(_pages, _path.ReadIds(_pages), _path.Leaf);
        _set.LastPage = (uint)_path.Leaf.Value;
    }
}
