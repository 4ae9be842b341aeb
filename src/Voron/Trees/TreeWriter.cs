using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>Changes a tree.</summary>
/// <remarks>
/// Keys and values may be spans of the tree's own pages. A <see cref="StorageFullException"/> from the page writer can leave the tree partially
/// changed: the transaction must be rolled back, entirely or to a savepoint.
/// </remarks>
internal static unsafe class TreeWriter
{
    /// <summary>Sets the value of a key.</summary>
    public static void Put(PageWriter writer, TreeState state, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) =>
        Store(writer, state, key, ToNewValue(writer, state, key.Length, value), replace: true);

    /// <summary>
    /// Appends an entry to the last leaf, if keys are being appended to it, the key follows all others, and the leaf has room for the value.
    /// </summary>
    /// <param name="writer">The pages.</param>
    /// <param name="state">The tree, whose values are not compressed.</param>
    /// <param name="key">A valid key, not part of a page.</param>
    /// <param name="value">The value, not part of a page.</param>
    /// <returns>False, with nothing changed, if the entry has to be put in another way.</returns>
    public static bool TryAppend(PageWriter writer, TreeState state, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        var pageSize = writer.PageSize;
        if (state.RightmostLeaf.IsNone || !TreeLimits.IsInline(pageSize, key.Length, value.Length))
            return false;
        fixed (byte* keyBytes = key)
        {
            var leaf = writer.Modify(state.RightmostLeaf);
            var count = SlottedPage.Count(leaf.Bytes);
            var last = SlottedPage.Record(leaf.Bytes, count - 1);
            var search = new SearchKey(keyBytes, key.Length);
            if (search.CompareStored(LeafPage.KeyBytes(last), LeafPage.KeyLength(last)) >= 0
                || LeafEditor.TryInsert(leaf, pageSize, count, search, ValueKind.Inline, value.Length) is var place && place == null)
                return false;
            state.PrepareForChange();
            state.EntryCount++;
            state.Changed = true;
            value.CopyTo(new Span<byte>(place, value.Length));
            return true;
        }
    }

    /// <summary>Sets the value of a key whose leaf is known and still covers the key. The value must not be part of a page.</summary>
    public static void PutAt(PageWriter writer, TreeState state, PageNumber leafNumber, in SearchKey key, ReadOnlySpan<byte> value)
    {
        state.PrepareForChange();
        Unsafe.SkipInit(out TreePath path);
        path.LeafLevel = -1;
        path.OnRightEdge = false;
        state.RightmostLeaf = PageNumber.None;
        TreePages.ReadLeaf(writer, leafNumber);
        var leaf = writer.Modify(leafNumber);
        var edit = new LeafTarget(writer, state, in leaf, LeafPage.Find(leaf.Bytes, key), in key, in path);
        StoreInLeaf(edit, ToNewValue(writer, state, key.Length, value), null, default);
    }

    /// <summary>Adds numbers to a counter, and returns the sum.</summary>
    /// <inheritdoc cref="Counter.Sum"/>
    public static long Add(PageWriter writer, TreeState state, ReadOnlySpan<byte> key, ReadOnlySpan<long> deltas)
    {
        var sum = Counter.Sum(writer, TreeReader.Find(state, writer, key), key, deltas);
        Put(writer, state, key, MemoryMarshal.AsBytes(new ReadOnlySpan<long>(in sum)));
        return sum;
    }

    /// <summary>Adds numbers to a counter whose leaf is known and still covers the key.</summary>
    /// <inheritdoc cref="Counter.Sum"/>
    public static void AddAt(PageWriter writer, TreeState state, PageNumber leafNumber, in SearchKey key, ReadOnlySpan<long> deltas)
    {
        var leaf = TreePages.ReadLeaf(writer, leafNumber);
        var index = LeafPage.Find(leaf, key);
        var sum = Counter.Sum(writer, index < 0 ? null : SlottedPage.Record(leaf, index), key.Span, deltas);
        PutAt(writer, state, leafNumber, key, MemoryMarshal.AsBytes(new ReadOnlySpan<long>(in sum)));
    }

    /// <summary>Adds an entry; returns false and changes nothing if the tree already contains the key.</summary>
    public static bool Insert(PageWriter writer, TreeState state, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) =>
        Store(writer, state, key, ToNewValue(writer, state, key.Length, value), replace: false) != null;

    /// <summary>
    /// Sets the length of a key's value, which the caller then writes. Until written, the bytes are arbitrary; the span is valid until
    /// the transaction's next change.
    /// </summary>
    public static Span<byte> Reserve(PageWriter writer, TreeState state, ReadOnlySpan<byte> key, int length)
    {
        if (length < 0)
            TreeErrors.ThrowNegativeLength(length);

        return new Span<byte>(Store(writer, state, key, new NewValue(writer.PageSize, key.Length, length), replace: true), length);
    }

    /// <summary>Sets the value of a key to an extent written by the caller.</summary>
    public static void PutLargeExtent(PageWriter writer, TreeState state, ReadOnlySpan<byte> key, LargeExtentReference reference)
    {
        Store(writer, state, key, new NewValue(ref reference), replace: true);
        state.OverflowPages += ValueExtents.CountPages(writer, reference);
        state.Changed = true;
    }

    /// <summary>Sets the content stored after a key in a tree of sets. Does not free the pages of a replaced set.</summary>
    public static void PutExtended(PageWriter writer, TreeState state, ReadOnlySpan<byte> key, ReadOnlySpan<byte> behind) =>
        Store(writer, state, key, NewValue.Extended(behind), replace: true);

    /// <summary>Removes an entry; returns false if there is none with this key.</summary>
    public static bool Delete(PageWriter writer, TreeState state, ReadOnlySpan<byte> key) => Remove(writer, state, key, freesPages: true);

    /// <summary>Removes an entry whose pages have already been freed.</summary>
    public static bool DeleteRecord(PageWriter writer, TreeState state, ReadOnlySpan<byte> key) => Remove(writer, state, key, freesPages: false);

    private static bool Remove(PageWriter writer, TreeState state, ReadOnlySpan<byte> key, bool freesPages)
    {
        if (state.Root.IsNone || key.Length == 0)
            return false;

        fixed (byte* keyBytes = key)
        {
            var search = new SearchKey(keyBytes, key.Length);
            TreeReader.Descend(state, writer, search, out var path);
            var number = path.Page(path.LeafLevel);
            var index = LeafPage.Search(TreePages.ReadLeaf(writer, number), search);
            if (index < 0)
                return false;

            state.PrepareForChange();
            var leaf = writer.Modify(number);
            if (freesPages && !PlantedFault.KeepExtentOfDeleted)
                ValueExtents.Free(writer, state, SlottedPage.Record(leaf.Bytes, index));
            SlottedPage.Remove<LeafPage>(leaf, writer.PageSize, index);
            state.EntryCount--;
            state.Changed = true;
            PageMerger.AfterRemoval(writer, state, path, leaf);
            return true;
        }
    }

    /// <summary>Removes the entry of a cursor; returns false if it was already deleted. The cursor's next move leads to a neighbour.</summary>
    /// <exception cref="InvalidOperationException">The cursor is on no entry.</exception>
    public static bool DeleteCurrent(PageWriter writer, TreeCursor cursor) => Delete(writer, cursor.State, cursor.PrepareToDelete());

    // The only place where values are compressed.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static NewValue ToNewValue(PageWriter writer, TreeState state, int keyLength, ReadOnlySpan<byte> value) =>
        state.IsCompressed && value.Length is >= PackedValue.LeastBytes and <= PackedValue.MostBytes && state.Packer is { } packer
            ? packer.Pack(state.TreeId, state.LeafPages + state.OverflowPages, writer.PageSize, keyLength, value)
            : new NewValue(writer.PageSize, keyLength, value);

    /// <summary>Stores a value. Returns the address of its bytes, or null if the key exists and its value must not be replaced.</summary>
    private static byte* Store(PageWriter writer, TreeState state, ReadOnlySpan<byte> key, in NewValue value, bool replace)
    {
        TreeLimits.CheckKey(writer.PageSize, key);
        state.PrepareForChange();
        fixed (byte* keyBytes = key)
        {
            var search = new SearchKey(keyBytes, key.Length);
            OverflowReference reference = default;
            byte* content = null;
            if (state.Root.IsNone)
            {
                if (value.HasExtent)
                    content = ValueExtents.Allocate(writer, state, value.Length, PageNumber.None, out reference);
                CreateRoot(writer, state);
            }

            var number = Locate(writer, state, search, out var path, out var before);
            if (TreePages.Overlaps(key, before, writer.PageSize) || TreePages.Overlaps(value.Source, before, writer.PageSize))
                return StoreCopies(writer, state, key, value, replace);

            // Without a path, the key has been compared with the last entry, and belongs after it.
            var isAppended = path.LeafLevel < 0;
            if (!replace && !isAppended && LeafPage.Search(before, search) >= 0)
                return null;

            var leaf = writer.Modify(number);
            var index = isAppended ? ~SlottedPage.Count(leaf.Bytes) : LeafPage.Search(leaf.Bytes, search);
            if (isAppended || path.OnRightEdge)
                state.RightmostLeaf = ~index == SlottedPage.Count(leaf.Bytes) ? number : PageNumber.None;

            return StoreInLeaf(new LeafTarget(writer, state, in leaf, index, in search, in path), value, content, reference);
        }
    }

    private static byte* StoreInLeaf(in LeafTarget edit, in NewValue value, byte* content, OverflowReference reference)
    {
        if (value.HasExtent && content == null)
        {
            var old = edit.Index < 0 || value.Kind != ValueKind.Overflow ? null : SlottedPage.Record(edit.Leaf.Bytes, edit.Index);
            if (old != null && ValueExtents.TryReuse(edit.Pages, edit.Leaf, old, value.Length, out content))
            {
                value.CopyTo(content);
                return content;
            }

            content = ValueExtents.Allocate(edit.Pages, edit.State, value.Length, edit.Number, out reference);
        }

        // The extent is written before the record: there may be no room for it, and the old value may be the source of the new one.
        if (content != null)
            value.CopyTo(content);

        return StoreRecord(edit, value, content, reference);
    }

    private static byte* StoreRecord(in LeafTarget edit, in NewValue value, byte* content, in OverflowReference reference)
    {
        var oldKind = ValueKind.Inline;
        OverflowReference oldExtent = default;
        LargeExtentReference oldLargeExtent = default;
        if (edit.Index >= 0)
        {
            var record = SlottedPage.Record(edit.Leaf.Bytes, edit.Index);
            oldKind = LeafPage.Kind(record);
            var overflow = LeafPage.Overflow(record);
            if (overflow != null)
                oldExtent = *overflow;
            else if (oldKind == ValueKind.LargeExtent)
                oldLargeExtent = *(LargeExtentReference*)LeafPage.InlineBytes(record);
            if ((oldKind == ValueKind.Extended && LeafPage.Packed(record) == null) != (edit.State.Kind == TreeKind.IdSets))
                TreeErrors.ThrowMixed(edit.State.Kind, record);
        }

        var place = LeafEditor.Place(edit, value.Kind, value.InlineLength);
        var state = edit.State;
        if (edit.Index < 0)
        {
            state.EntryCount++;
            state.Changed = true;
        }

        if (value.HasExtent)
            value.WriteReference(place, reference);
        else
            value.CopyTo(place);

        if (oldExtent.FirstPage != 0)
            ValueExtents.FreeOverflow(edit.Pages, state, oldExtent);
        else if (oldKind == ValueKind.LargeExtent)
            ValueExtents.FreeLargeExtent(edit.Pages, state, oldLargeExtent);

        return content != null ? content : place;
    }

    /// <summary>Finds the leaf for a key. For a key appended to the known last leaf, there is no path: its leaf level is negative.</summary>
    private static PageNumber Locate(PageWriter writer, TreeState state, in SearchKey key, out TreePath path, out byte* leaf)
    {
        Unsafe.SkipInit(out path);
        var page = state.RightmostLeaf;
        if (!page.IsNone)
        {
            leaf = TreePages.ReadLeaf(writer, page);
            var last = SlottedPage.Record(leaf, SlottedPage.Count(leaf) - 1);
            if (key.CompareStored(LeafPage.KeyBytes(last), LeafPage.KeyLength(last)) < 0)
            {
                path.LeafLevel = -1;
                return page;
            }

            state.RightmostLeaf = PageNumber.None;
        }

        TreeReader.Descend(state, writer, key, out path);
        page = path.Page(path.LeafLevel);
        leaf = TreePages.ReadLeaf(writer, page);
        return page;
    }

    private static void CreateRoot(PageWriter writer, TreeState state)
    {
        var root = writer.Allocate(PageKind.Leaf, PageNumber.None);
        SlottedPage.Initialize(root, writer.PageSize, writer.TreeMark(state.TreeId));
        state.Root = new PageNumber(root.Header->PageNumber);
        state.Depth = 1;
        state.LeafPages = 1;
        state.Changed = true;
    }

    /// <summary>Stores copies of the key and the value, because the edit would move the bytes that it reads.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte* StoreCopies(PageWriter writer, TreeState state, ReadOnlySpan<byte> key, in NewValue value, bool replace) =>
        Store(writer, state, key.ToArray(), value.WithSource(value.Source.ToArray()), replace);
}
