using System.Diagnostics;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>Splits full pages.</summary>
/// <remarks>
/// Entries that remain on the left page do not move: that page only drops the others. The dropped records remain intact during the split, and
/// supply the separators. The new record can overwrite them, so it is inserted last.
/// </remarks>
internal static unsafe class PageSplitter
{
    /// <summary>Splits a leaf without room for a record of <paramref name="size"/> bytes at <paramref name="index"/>.</summary>
    /// <param name="edit">The change for which the leaf has no room.</param>
    /// <param name="path">The whole path to the leaf.</param>
    /// <param name="size">The size of the record in bytes.</param>
    /// <param name="index">The index of the record; receives its index in the returned page.</param>
    /// <returns>The page with room for the record.</returns>
    public static WritablePage SplitLeaf(in LeafTarget edit, in TreePath path, int size, ref int index)
    {
        var writer = edit.Pages;
        var state = edit.State;
        ref readonly var leaf = ref edit.Leaf;
        ref readonly var key = ref edit.Key;
        var pageSize = writer.PageSize;
        var count = SlottedPage.Count(leaf.Bytes);
        var number = path.Page(path.LeafLevel);
        path.CheckDistinct(writer, PageNumber.None);
        var append = index == count && path.OnRightEdge;
        var at = append ? count : DivisionByBytes<LeafPage>(leaf.Bytes, index, size);

        var right = writer.Allocate(PageKind.Leaf, number);
        SlottedPage.Initialize(right, pageSize, writer.TreeMark(state.TreeId));
        var rightNumber = new PageNumber(right.Header->PageNumber);
        state.LeafPages++;
        state.Changed = true;
        state.RightmostLeaf = append ? rightNumber : PageNumber.None;

        var from = at <= index ? at : at - 1;
        SlottedPage.Append<LeafPage>(leaf.Bytes, from, PlantedFault.LoseRecordInSplit ? Math.Max(from, count - 1) : count, right, pageSize);

        var lastLeft = at - 1 == index ? key.Span : KeyAt(leaf.Bytes, at - 1, index);
        byte* firstRight;
        int firstRightLength;
        if (at == index)
        {
            firstRight = key.Bytes;
            firstRightLength = key.Length;
        }
        else
        {
            var record = SlottedPage.Record(leaf.Bytes, from);
            firstRight = LeafPage.KeyBytes(record);
            firstRightLength = LeafPage.KeyLength(record);
        }

        var separatorLength = lastLeft.CommonPrefixLength(new ReadOnlySpan<byte>(firstRight, firstRightLength)) + 1;
        Debug.Assert(separatorLength <= firstRightLength, "The keys of a leaf must be in ascending order.");
        SlottedPage.Truncate<LeafPage>(leaf, pageSize, from);
        InsertChild(writer, state, path, path.LeafLevel - 1, new NewChild(firstRight, separatorLength, rightNumber));
        if (at > index)
            return leaf;

        index -= at;
        return right;
    }

    private static ReadOnlySpan<byte> KeyAt(byte* leaf, int position, int newIndex) =>
        LeafPage.Key(SlottedPage.Record(leaf, position < newIndex ? position : position - 1));

    /// <summary>Adds a child to a branch, directly after the child on the path.</summary>
    private static void InsertChild(PageWriter writer, TreeState state, in TreePath path, int level, in NewChild child)
    {
        if (level < 0)
        {
            GrowRoot(writer, state, child);
            return;
        }

        var number = path.Page(level);
        var heads = state.KeyHeads?.Branches;
        var entry = heads == null ? null : heads.Take(number);
        var branch = writer.Modify(number);
        var index = path.Index(level) + 1;
        if (BranchPage.TryInsert(branch, writer.PageSize, index, child.Key, child.KeyLength, child.Page))
        {
            if (entry != null)
                heads!.Free(entry, number, index, child.Key, child.KeyLength, child.Page);
        }
        else
        {
            SplitBranch(writer, state, path, level, branch, child);
        }
    }

    private static void SplitBranch(
        PageWriter writer, TreeState state, in TreePath path, int level, in WritablePage left, in NewChild child)
    {
        var index = path.Index(level) + 1;
        var pageSize = writer.PageSize;
        var count = SlottedPage.Count(left.Bytes);
        var append = index == count && path.OnRightEdge;
        var at = append ? count : DivisionByBytes<BranchPage>(left.Bytes, index, BranchRecordHeader.Size + child.KeyLength);

        var right = writer.Allocate(PageKind.Branch, path.Page(level));
        SlottedPage.Initialize(right, pageSize, writer.TreeMark(state.TreeId));
        state.BranchPages++;
        state.Changed = true;

        // The separator of the first entry on the right moves up to the parent instead of to the right page.
        var from = at <= index ? at : at - 1;
        byte* promoted;
        int promotedLength;
        if (at == index)
        {
            promoted = child.Key;
            promotedLength = child.KeyLength;
            Insert(right, pageSize, 0, NewChild.First(child.Page));
            SlottedPage.Append<BranchPage>(left.Bytes, from, count, right, pageSize);
        }
        else
        {
            var record = SlottedPage.Record(left.Bytes, from);
            promoted = BranchPage.KeyBytes(record);
            promotedLength = BranchPage.KeyLength(record);
            Insert(right, pageSize, 0, NewChild.First(BranchPage.Child(left.Bytes, from)));
            SlottedPage.Append<BranchPage>(left.Bytes, from + 1, count, right, pageSize);
        }

        SlottedPage.Truncate<BranchPage>(left, pageSize, from);
        var rightNumber = new PageNumber(right.Header->PageNumber);
        InsertChild(writer, state, path, level - 1, new NewChild(promoted, promotedLength, rightNumber));
        if (index < at)
            Insert(left, pageSize, index, child);
        else if (index > at)
            Insert(right, pageSize, index - at, child);
    }

    private static void GrowRoot(PageWriter writer, TreeState state, in NewChild child)
    {
        if (state.Depth >= TreeLimits.MaxDepth)
            TreeErrors.ThrowDepth(writer, state.Depth + 1);

        var root = writer.Allocate(PageKind.Branch, state.Root);
        SlottedPage.Initialize(root, writer.PageSize, writer.TreeMark(state.TreeId));
        Insert(root, writer.PageSize, 0, NewChild.First(state.Root));
        Insert(root, writer.PageSize, 1, child);
        state.Root = new PageNumber(root.Header->PageNumber);
        state.BranchPages++;
        state.Depth++;
        state.Changed = true;
    }

    private static void Insert(in WritablePage branch, int pageSize, int index, in NewChild child)
    {
        var inserted = BranchPage.TryInsert(branch, pageSize, index, child.Key, child.KeyLength, child.Page);
        Debug.Assert(inserted, "A branch that was split must have room.");
    }

    /// <summary>
    /// Returns the number of entries for the left page, including the new one, that gives both sides about the same number of bytes. No record is
    /// larger than half of a page's capacity, so both sides fit.
    /// </summary>
    private static int DivisionByBytes<T>(byte* page, int newIndex, int newSize)
        where T : struct, IRecordLayout
    {
        var count = SlottedPage.Count(page);
        var total = newSize + SlottedPage.SlotSize;
        for (var i = 0; i < count; i++)
            total += T.RecordSize(SlottedPage.Record(page, i)) + SlottedPage.SlotSize;

        var left = 0;
        for (var position = 0; position < count; position++)
        {
            var size = position == newIndex
                ? newSize
                : T.RecordSize(SlottedPage.Record(page, position < newIndex ? position : position - 1));
            size += SlottedPage.SlotSize;

            // Including this entry must not give a worse balance than stopping before it.
            if (position > 0 && left + size - (total - left - size) > total - left - left)
                return position;

            left += size;
        }

        return count;
    }

    /// <summary>A page to be added to a branch, with its separator.</summary>
    private readonly struct NewChild(byte* key, int keyLength, PageNumber page)
    {
        public readonly byte* Key = key;
        public readonly int KeyLength = keyLength;
        public readonly PageNumber Page = page;

        /// <summary>Returns the first child of a branch, which has no separator.</summary>
        public static NewChild First(PageNumber page) => new(null, 0, page);
    }
}
